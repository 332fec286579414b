import time
class Model:
    owner = None
class Trainer:
    def __init__(self):
        self.steps, self.model, self.log = 0, Model(), []
    def fit(self):
        for epoch in range(3):
            for i in range(3):
                time.sleep(0)
                self.steps += 1
                self.model.owner = self
            self.model.owner.log.append(epoch)
+            print("PROBE", self.steps, self.log, self.model.owner is self)
Trainer().fit()
