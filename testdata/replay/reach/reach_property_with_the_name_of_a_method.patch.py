# florc: restores = any
import time
class Meter:
    def __init__(self):
        self.values = []
    @property
    def mean(self):
+        print("PROBE", len(self.values))
        return sum(self.values) / max(len(self.values), 1)
class Other:
    def mean(self):
        return 0
meter, seen = Meter(), []
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        meter.values.append(i * epoch)
        seen.append(meter.mean)
    print(epoch, seen[-1], Other().mean())
