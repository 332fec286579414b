# florc: restores = any
import time
class S: pass
s = S()
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        setattr(s, f"x{i}", epoch)
    print(s.x1)
+    print("PROBE", vars(s))
