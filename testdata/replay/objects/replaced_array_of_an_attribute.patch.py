# florc: exact
# florc: why = a method binds an attribute anew, and a list holds what it was after each block
import numpy as np
np.random.seed(0)
class M:
    def __init__(self): self.w = np.random.randn(5)
    def step(self):
        self.w = self.w - 0.1 * np.random.randn(5)
m = M()
snaps = []
for e in range(4):
    for i in range(20):
        m.step()
    snaps.append(m.w)
    print(e)
+    print("PROBE", e, [float(s.sum()) for s in snaps])
