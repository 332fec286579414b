# florc: restores = any
import time, itertools
loader = itertools.cycle([10, 20, 30])
s = 0
for epoch in range(3):
    for _, x in zip(range(4), loader):
        time.sleep(0)
        s += x
    print(s)
+    print("PROBE", s, x)
