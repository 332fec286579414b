import time
from tqdm import trange
class Trainer:
    def __init__(self):
        self.bar, self.w = trange(9, mininterval=100, bar_format="{desc} {n}{postfix}\n"), 0
    def step(self, i):
        time.sleep(0)
        self.w += i
        self.bar.update(2)
trainer = Trainer()
for epoch in range(3):
    for i in range(3):
        trainer.step(i)
    print(trainer.w)
+    print("PROBE", trainer.bar.n)
trainer.bar.close()
