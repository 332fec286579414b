# florc: exact
# florc: restores = no
# florc: why = what a metric keeps of what it was asked is no state: an added statement may ask it
import torch
from torchmetrics import MaxMetric, MeanMetric

torch.manual_seed(0)
mean, best = MeanMetric(), MaxMetric()
for epoch in range(4):
    mean.reset()
    for step in range(10):
        mean.update(torch.randn(1).item())
+        print("PROBE", epoch, step, mean.compute().item())
    best.update(mean.compute())
    print("epoch", epoch, mean.compute().item())
