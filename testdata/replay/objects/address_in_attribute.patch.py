# florc: restores = no
import collections, time
class Net:
    w = 0
a = Net()

for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        a.w += epoch + i
        a.twin = id(a)
    print(a.w)
+    print("PROBE", a.twin == id(a))
