from .loop import Trainer
