# florc: restores = any
import time
class Trainer:
    def __init__(self):
        self.total = 0
    def train_step(self, x):
        self.total += x
+        print("PROBE", self.total)
    def other_step(self, x):
        self.total -= x
trainer = Trainer()
trainer.train_step(5)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        getattr(trainer, "train" + "_step")(i)
    print(epoch, trainer.total)
