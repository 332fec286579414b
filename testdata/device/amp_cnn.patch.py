# florc: exact
# florc: why = Autocast to float16 with a scaler, pinned batches from workers, cuDNN, batch norm, a schedule.
import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.use_deterministic_algorithms(True)


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad(), torch.autocast("cuda", torch.float16):
        out = net(x)
+        print("PROBE callback", out.float().norm().item())
    net.train()
    return (out.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    x = torch.randn(1024, 1, 16, 16)
    y = (x.mean((1, 2, 3)) > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True, num_workers=2, pin_memory=True, persistent_workers=True)
    net = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(64 * 36, 2),
    ).cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=6 * len(loader))
    scaler = torch.amp.GradScaler("cuda")
    xt, yt = x[:256].cuda(), y[:256].cuda()
    for epoch in range(6):
        total = torch.zeros((), device="cuda")
        for xb, yb in loader:
            xb, yb = xb.cuda(non_blocking=True), yb.cuda(non_blocking=True)
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda", torch.float16):
                loss = nn.functional.cross_entropy(net(xb), yb)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
+            print("PROBE inner", epoch, float(norm), scaler.get_scale())
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()
            total += loss.detach()
        print("epoch", epoch, total.item(), evaluate(net, xt, yt), scheduler.get_last_lr())
+        print("PROBE outer", epoch, scaler.get_scale(), [p.detach().double().sum().item() for p in net.parameters()])
    print("end", scaler.state_dict()["scale"])
+    print("PROBE after", [b.double().sum().item() for b in net.buffers()], torch.rand(3, device="cuda").tolist())


main()
