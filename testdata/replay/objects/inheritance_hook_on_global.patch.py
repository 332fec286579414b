import time
calls = []
class Base:
    def fit(self, x):
        time.sleep(0)
        return self.hook(x)
    def hook(self, x): return 0
class Child(Base):
    def hook(self, x):
        calls.append(x)
        return x
m = [Base(), Child()]
for epoch in range(3):
    for i in range(3):
        r = m[1].fit(i)
    print(r)
+    print("PROBE", r, calls)
