# florc: restores = any
import time
class Rec:
    def __init__(self): object.__setattr__(self, "log", [])
    def __setattr__(self, k, v):
        self.log.append(k)
        object.__setattr__(self, k, v)
r = Rec()
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        r.x = i
    print(r.x)
+    print("PROBE", r.x, r.log)
