# florc: restores = no
import collections, time
class Net:
    w = 0
a = Net()
seen = set()
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        a.w += epoch + i
        seen.add(repr(a))
    print(a.w)
+    print("PROBE", repr(a) in seen)
