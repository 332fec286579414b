# florc: restores = no
import collections, time
class Net:
    w = 0
a = Net()
found = None
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        a.w += epoch + i
        found = id(a)
    print(a.w)
+    print("PROBE", found == id(a))
