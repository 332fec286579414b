"""A package with relative imports, a class in another file than its base, and imports that florc cannot follow."""
import importlib
import sys

from training import Trainer
from training.models import Model

settings = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "json")
trainer = Trainer(Model())
for epoch in range(10):
    trainer.epoch()
    print(epoch, trainer.steps)
