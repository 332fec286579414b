# florc: restores = no
import collections, time
class Net:
    w = 0
a = Net()
found = {}
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        a.w += epoch + i
        found['a'] = id(a)
    print(a.w)
+    print("PROBE", found['a'] == id(a))
