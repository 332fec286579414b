# florc: restores = any
import time
class Vec:
    made = 0
    def __init__(self, x): self.x, self.ops = x, 0
    def __iadd__(self, o):
        self.x += o; self.ops += 1
        return self
    def __getitem__(self, k):
        self.ops += 1
        return self.x
    def __call__(self, k):
        self.ops += 100
        return k
    def __contains__(self, k):
        self.ops += 1000
        return True
    def __len__(self):
        self.ops += 10000
        return 3
v = Vec(0)
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        v += i
        a = v[0]
        b = v(1)
        if 3 in v:
            c = len(v)
    print(v.x)
+    print("PROBE", v.x, v.ops)
