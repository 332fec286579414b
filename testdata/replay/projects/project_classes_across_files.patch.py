from training import Trainer
from training.models import Model
trainer = Trainer(Model())
for epoch in range(3):
    trainer.epoch()
    print(epoch, trainer.model.weight)
+    print("PROBE", trainer.steps, trainer.model.weight, trainer.model.calls, Model.made, trainer.log)
=== training/__init__.py
from .loop import Trainer
=== training/base.py
class Base:
    steps = 0
    def advance(self, n=1):
        self.steps += n
        self.log.append(self.steps)
=== training/loop.py
import time
from .base import Base
class Trainer(Base):
    def __init__(self, model):
        self.model, self.log = model, []
    def epoch(self):
        for i in range(4):
            time.sleep(0)
            self.advance(i)
            self.model(i)
=== training/models.py
class Model:
    made = 0
    def __init__(self):
        self.weight, self.calls = 1.0, 0
        type(self).made += 1
    def __call__(self, x):
        self.calls += 1
        self.weight += 0.5 * x
