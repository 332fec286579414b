import time
class Base:
    def __init__(self): self.count = 0
    def fit(self, x):
        time.sleep(0)
        self.count += 1
        self.hook(x)
    def hook(self, x): pass
class Child(Base):
    def __init__(self):
        super().__init__()
        self.seen = []
    def hook(self, x):
        self.seen.append(x)
m = Child()
for epoch in range(3):
    for i in range(3):
        m.fit(i)
    print(m.count)
+    print("PROBE", m.count, m.seen)
