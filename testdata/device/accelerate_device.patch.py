# florc: exact
# florc: why = Accelerate on a device: wrappers of model, optimizer, loader and schedule, in bfloat16.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from accelerate import Accelerator
from accelerate.utils import set_seed


def evaluate(model, loader, accelerator):
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x).argmax(1)
            out, y = accelerator.gather_for_metrics((out, y))
            right += int((out == y).sum())
    return right


def rate(step):
+    print("PROBE callback", step)
    return 0.99**step


def main():
    set_seed(3)
    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2)
    x = torch.randn(3000, 40)
    y = (x[:, 0] * x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:2500], y[:2500]), batch_size=16, shuffle=True)
    test = DataLoader(TensorDataset(x[2500:], y[2500:]), batch_size=100)
    model = nn.Sequential(nn.Linear(40, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    model, optimizer, train, test, scheduler = accelerator.prepare(model, optimizer, train, test, scheduler)
    for epoch in range(6):
        model.train()
        total = 0.0
        for xb, yb in train:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(xb), yb)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    norm = accelerator.clip_grad_norm_(model.parameters(), 1.0)
+                    print("PROBE inner", epoch, float(norm))
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            total += loss.item()
        acc = evaluate(model, test, accelerator)
        accelerator.print("epoch", epoch, total, acc, scheduler.get_last_lr())
+        print("PROBE outer", epoch, sum(float(p.detach().double().norm()) for p in model.parameters()))
+    print("PROBE after", [float(p.detach().double().sum()) for p in model.parameters()], optimizer.param_groups[0]["lr"])


main()
