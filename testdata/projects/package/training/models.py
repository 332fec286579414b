class Model:
    def __init__(self):
        self.weight, self.calls = 1.0, 0

    def __call__(self, x):
        self.calls += 1
        self.weight += 0.5 * x
