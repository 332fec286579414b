import time
class Model:
    def __init__(self):
        self.weight = 1.0
    def items(self):
        return [("w", self.weight)]
    def step(self, size):
        self.weight += size
models = {"model": Model}
model = models["model"]()
def norms(model):
    params = {k: v for k, v in model.items()}
    for i in range(3):
        time.sleep(0)
        norm = {k: abs(p) for k, p in params.items()}
    return norm
print(norms(model))
square = lambda v: v * v
for epoch in range(4):
    opt = models["model"]()
    for _ in range(5):
        time.sleep(0)
        opt.step(epoch)
        model.step(opt.weight)
    k = lambda a, b: model.weight * a * b
    print(epoch, k(1, 2))
+    print("PROBE", {k: square(v) for k, v in model.items()})
