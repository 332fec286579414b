# florc: restores = any
import time
class Source:
    def __init__(self): self.pos = 0
    def __iter__(self): return self
    def __next__(self):
        self.pos += 1
        if self.pos % 4 == 0:
            raise StopIteration
        return self.pos
src = Source()
n = 0
for epoch in range(3):
    for x in src:
        time.sleep(0)
        n += x
    print(n)
+    print("PROBE", n, src.pos)
