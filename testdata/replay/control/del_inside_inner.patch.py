# florc: restores = any
import time
out = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        t = epoch + i
        out += t
        del t
    print(out)
+    print("PROBE", out, "t" in globals())
