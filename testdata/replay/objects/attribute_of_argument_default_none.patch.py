import time
class M:
    def __init__(self): self.n = 0
default = M()
def step(m=None):
    m = m or default
    time.sleep(0)
    m.n += 1
for epoch in range(3):
    for i in range(3):
        step()
    print(default.n)
+    print("PROBE", default.n)
