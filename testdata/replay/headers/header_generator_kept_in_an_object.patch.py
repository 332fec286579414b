# florc: restores = any
import time
class Trainer:
    def __init__(self):
        self.feed = self.make()
        self.total = 0
    def make(self):
        for n in range(100):
+            print("PROBE", n)
            yield n
    def epoch(self):
        for i in range(3):
            time.sleep(0)
            self.total += next(self.feed)
trainer = Trainer()
for epoch in range(3):
    trainer.epoch()
    print(epoch, trainer.total)
