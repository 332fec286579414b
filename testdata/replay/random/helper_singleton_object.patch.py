# florc: restores = any
import time
from helper import meter
import helper
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        helper.tick()
    print(meter.n)
+    print("PROBE", meter.n)
=== helper.py
class Meter:
    def __init__(self): self.n = 0
    def hit(self): self.n += 1
meter = Meter()
def tick():
    meter.hit()
