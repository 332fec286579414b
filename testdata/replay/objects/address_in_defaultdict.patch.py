# florc: restores = no
import collections, time
class Net:
    w = 0
a = Net()
norms = collections.defaultdict(int)
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        a.w += epoch + i
        norms[id(a)] += a.w
    print(a.w)
+    print("PROBE", norms[id(a)])
