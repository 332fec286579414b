import time
import numpy as np
class Env:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.pos = 0.0
    def step(self):
        time.sleep(0)
        self.pos += self.rng.randn()
        return self.pos
env = Env(1)
for epoch in range(3):
    for i in range(3):
        p = env.step()
    print(p)
+    print("PROBE", env.pos, p)
print(env.step())
