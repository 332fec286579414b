# florc: restores = no
import time
class Net:
    w = 0
a, b = Net(), Net()
norms = {}
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        a.w += epoch + i
        b.w += i
        norms[id(a)], norms[id(b)] = a.w, b.w
    print(a.w)
+    print("PROBE", [norms.get(id(net)) for net in (a, b)])
