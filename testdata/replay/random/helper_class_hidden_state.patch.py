# florc: restores = any
import time
from helper import Model
m = Model()
r = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        r = m.compute(i)
    print(r)
print(m.compute(1))
+print("PROBE", m.cache, Model.calls)
=== helper.py
class Model:
    calls = 0
    def __init__(self): self.cache = {}
    def compute(self, i):
        Model.calls += 1
        self.cache[i] = self.cache.get(i, 0) + 1
        return self.cache[i]
