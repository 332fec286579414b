# florc: restores = any
import time
class Trainer:
    def __init__(self, fast):
        self.total = 0
        self.step = self.fast if fast else self.slow
    def fast(self, x):
        self.total += x
+        print("PROBE", self.total)
    def slow(self, x):
        self.total += 2 * x
trainer = Trainer(True)
trainer.fast(3)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        trainer.step(i)
    print(epoch, trainer.total)
