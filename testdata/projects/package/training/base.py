class Base:
    def __init__(self):
        self.steps = 0
        self.log = []

    def advance(self, n=1):
        self.steps += n
        self.log.append(self.steps)
