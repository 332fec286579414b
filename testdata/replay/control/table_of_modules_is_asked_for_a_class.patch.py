# florc: restores = any
import sys, time
class SGD:
    def __init__(self, lr): self.lr = lr; self.n = 0
    def step(self, w): self.n += 1; return w * (1 - self.lr)
w = 1.0; opts = []
for e in range(4):
    for i in range(4):
        o = getattr(sys.modules[__name__], "SGD")(0.1); w = o.step(w); opts.append(o); time.sleep(0)
+    print("PROBE", e, w, len(opts))
    print(e)
