"""Module-level helper pattern with state dict, lr warm-up, checkpoint resume, grad accumulation, zip/islice, nested list."""
import itertools
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.calls = 0
        self.cache = []
    def forward(self, x):
        self.calls += 1
        self.cache.append(x.detach())
        return self.body(x)

class Engine:
    instances = 0
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = Net()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=cfg["lr"])
        self.hooks = {"step": []}
        self.state = {"epoch": 0, "step": 0}
    def warmup(self):
        for g in self.opt.param_groups:
            g["lr"] = self.cfg["lr"] * min(1, self.state["step"] / 100)
    def run(self, src, tgt):
        for epoch in range(self.state["epoch"], self.cfg["epochs"]):
            it = itertools.cycle(tgt)
            for x, y in zip(itertools.islice(src, 100), it):
                self.warmup()
                out = self.net(x)
                loss = nn.functional.mse_loss(out, y)
                loss = loss / 2
                loss.backward()
                if self.state["step"] % 2:
                    self.opt.step()
                    self.opt.zero_grad()
                self.state["step"] += 1
                Engine.instances += 1
                for h in self.hooks["step"]:
                    h(self, loss)
            self.state["epoch"] += 1
            print(loss.item(), self.net.calls)

engine = Engine({"lr": 0.1, "epochs": 3})
engine.run(src, tgt)

net2 = Net()
opt2 = torch.optim.Adam(net2.parameters())
@torch.no_grad()
def clip(model, c=0.01):
    for p in model.parameters():
        p.clamp_(-c, c)
scores, rows = {}, [[] for _ in range(3)]
for epoch in range(3):
    net2.train()
    for i, (a, b) in enumerate(zip(la, lb), start=1):
        opt2.zero_grad()
        l1, l2 = net2(a).sum(), net2(b).mean()
        total = l1 - l2
        total.backward()
        opt2.step()
        clip(net2)
        rows[epoch].append(total.item())
        scores[f"{epoch}/{i}"] = total.item()
        last = i if i > 3 else None
    else:
        finished = True
    print(total, last, finished)
