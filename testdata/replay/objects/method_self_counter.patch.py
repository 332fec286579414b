import time
class Trainer:
    def __init__(self):
        self.step, self.history = 0, []
    def train(self):
        for epoch in range(3):
            for i in range(3):
                time.sleep(0)
                self.step += 1
            self.history.append(self.step)
            print(epoch, self.step)
+            print("PROBE", self.step, self.history)
Trainer().train()
