# florc: exact
# florc: again outer = nothing
# florc: again inner = L2 6 ×
# florc: again callback = nothing
# florc: again after = nothing
# florc: why = Fabric's wrappers of model, optimizer and loader are restored as what they wrap; it calls its callbacks.
# florc: longer = range(6) -> range(16)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from lightning.fabric import Fabric


class Seen:
    def __init__(self):
        self.totals = []

    def on_epoch_end(self, epoch, total):
        self.totals.append(total)
+        print("PROBE callback", epoch, self.totals)


def main():
    fabric = Fabric(accelerator="cpu", devices=1, callbacks=[Seen()])
    fabric.launch()
    fabric.seed_everything(3)
    x = torch.randn(3000, 40)
    y = (x[:, 0] * x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:2500], y[:2500]), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Linear(40, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer = fabric.setup(model, optimizer)
    train = fabric.setup_dataloaders(train)
    for epoch in range(6):
        model.train()
        total = 0.0
        for step, (xb, yb) in enumerate(train):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            fabric.backward(loss)
+            print("PROBE inner", step, sum(float(p.grad.double().norm()) for p in model.parameters()))
            optimizer.step()
            total += loss.item()
        fabric.call("on_epoch_end", epoch=epoch, total=total)
        fabric.print("epoch", epoch, total)
+        print("PROBE outer", epoch, sum(float(p.detach().double().norm()) for p in model.parameters()))
+    print("PROBE after", [float(p.detach().double().sum()) for p in model.parameters()])


main()
