# florc: restores = no
import time
class Average:
    def __init__(self):
        self.total, self.steps = 0.0, 0
    def update(self, value):
        self.total += value
        self.steps += 1
    def __call__(self):
        return self.total / self.steps
def train(epoch):
    average = Average()
    for i in range(4):
        time.sleep(0)
        average.update(i * epoch)
+        print("PROBE", average())
    print(average())
for epoch in range(3):
    train(epoch)
