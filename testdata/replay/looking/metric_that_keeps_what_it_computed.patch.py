import time, torch
class Metric(torch.nn.Module):
    __module__ = "torchmetrics.metric"
    def __init__(self):
        super().__init__()
        self.total, self._computed = 0, None
    def update(self, value):
        self.total, self._computed = self.total + value, None
    def compute(self):
        self._computed = self.total if self._computed is None else self._computed
        return self._computed
    def reset(self):
        self.total, self._computed = 0, None
metric = Metric()
for epoch in range(4):
    for i in range(5):
        time.sleep(0)
        metric.update(i * epoch)
    print(epoch)
+    print("PROBE", metric.compute())
    metric.reset()
