# florc: restores = any
import time
class Opt:
    def __init__(self): self._lr, self.changes = 1.0, 0
    @property
    def lr(self): return self._lr
    @lr.setter
    def lr(self, v):
        self._lr = v
        self.changes += 1
opt = Opt()
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        opt.lr *= 0.5
    print(opt.lr)
+    print("PROBE", opt.lr, opt.changes)
