# florc: restores = any
import time
class S: pass
s = S(); d = {}; l = []
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        s.tmp = i
        d[i] = epoch
        l[:] = [i, epoch]
        if i == 2:
            del s.tmp, d[0], l[0]
    print(d, l)
+    print("PROBE", hasattr(s, "tmp"), d, l)
