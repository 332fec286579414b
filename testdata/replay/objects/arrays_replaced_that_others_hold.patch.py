# florc: exact
import numpy as np, time
class M:
    def fit(self, k):
        self.coefs_ = [np.full(3, float(k)), np.zeros(2)]
        self.opt = self.coefs_ + []
        time.sleep(0.01)
m = M()
best = []
for i in range(3):
    for _ in range(2):
        m.fit(i)
        time.sleep(0.01)
    best.append((m.coefs_[0], m))
    print(i, m.coefs_[0][0])
+    print("PROBE", i, [b[0].sum() for b in best])
