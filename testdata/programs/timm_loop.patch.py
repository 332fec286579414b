# florc: exact
# florc: why = timm: a device in a module, an average of weights, a schedule, mixup from NumPy's generator
# florc: longer = range(4) -> range(40)
import numpy
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import AverageMeter, ModelEmaV2

torch.manual_seed(0)
numpy.random.seed(0)
model = timm.create_model("resnet10t", num_classes=4, pretrained=False)
average = ModelEmaV2(model, decay=0.9)


def looked(module, inputs, output):
    mean = output.mean()
+    print("PROBE callback", mean.item())


model.fc.register_forward_hook(looked)
optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3)
scheduler = CosineLRScheduler(optimizer, t_initial=4, warmup_t=1)
mixup, criterion = Mixup(mixup_alpha=0.2, num_classes=4), SoftTargetCrossEntropy()
X, y = torch.randn(16, 3, 32, 32), torch.randint(0, 4, (16,))
for epoch in range(4):
    losses = AverageMeter()
    model.train()
    for start in range(0, 16, 8):
        images, targets = mixup(X[start : start + 8], y[start : start + 8])
        loss = criterion(model(images), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
+        print("PROBE inner", epoch, loss.item())
        average.update(model)
        losses.update(loss.item(), 8)
    scheduler.step(epoch + 1)
+    print("PROBE outer", average.module.fc.weight.norm().item(), optimizer.param_groups[0]["lr"])
    print("epoch", epoch, losses.avg)
+print("PROBE after", model.fc.bias.sum().item())
