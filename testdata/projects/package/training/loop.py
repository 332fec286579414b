from . import broken
from .base import Base


class Trainer(Base):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def epoch(self):
        for i in range(100):
            self.advance(i)
            self.model(i)
