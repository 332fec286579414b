import time
class Meter:
    def __init__(self): self.n = 0
    def __enter__(self):
        self.n += 1
        return self
    def __exit__(self, *_): self.n += 10
meter = Meter()
for epoch in range(3):
    for i in range(3):
        with meter as m:
            time.sleep(0)
    print(epoch, meter.n)
+    print("PROBE", meter.n)
