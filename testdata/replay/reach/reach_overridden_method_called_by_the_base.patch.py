# florc: restores = any
import time
class Base:
    def __init__(self):
        self.total = 0
    def step(self, x):
        self.inner(x)
    def inner(self, x):
        raise NotImplementedError
class Derived(Base):
    def inner(self, x):
        self.total += x
+        print("PROBE", self.total)
model = Derived()
model.inner(4)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        model.step(i)
    print(epoch, model.total)
