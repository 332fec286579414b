# florc: restores = any
import time
class S: pass
s = S()
d = s.__dict__
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        d["x"] = (epoch, i)
        s.__dict__.update(y=i)
    print(s.x)
+    print("PROBE", s.x, s.y)
