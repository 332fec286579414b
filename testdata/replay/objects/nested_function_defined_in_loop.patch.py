# florc: flagged
import time
out = []
for epoch in range(3):
    for i in range(2):
        def closure(k=i):
            out.append(k)
            return k * epoch
        time.sleep(0)
        r = closure()
    print(r)
+    print("PROBE", out, closure(5), out)
