import time
from helper import Trainer, config
t = Trainer()
for epoch in range(3):
    t.run(3)
    print(t.steps, config)
+    print("PROBE", t.steps, config)
=== helper.py
import time
config = {"lr": 1.0}
class Trainer:
    def __init__(self):
        self.steps = 0
    def run(self, n):
        for i in range(n):
            time.sleep(0)
            self.steps += 1
            config["lr"] *= 0.5
