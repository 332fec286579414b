# florc: exact
# florc: again outer = L1 1 ×
# florc: again inner = L1 1 ×, L2 6 ×
# florc: again callback = L1 1 ×
# florc: again after = L1 1 × or L1 1 ×, L2 1 ×
# florc: why = sacred calls the function that trains: its loops are blocks, as they are in a function that the script calls.
# florc: longer = range(6) -> range(14)
import torch
from sacred import Experiment
from torch import nn

experiment = Experiment("classify", save_git_info=False)


@experiment.config
def config():
    rate = 1e-3
    width = 256


@experiment.capture
def make(width, rate):
    net = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))
    return net, torch.optim.Adam(net.parameters(), lr=rate)


@experiment.capture
def evaluate(net, x, y, rate):
    right = (net(x).argmax(1) == y).float().mean().item()
+    print("PROBE callback", rate, right)
    return right


@experiment.main
def main(_seed):
    torch.manual_seed(7)
    x = torch.randn(3000, 64)
    y = (x[:, 0] * x[:, 1] > 0).long()
    net, optimizer = make()
    for epoch in range(6):
        total = 0.0
        for batch in torch.randperm(len(x)).split(32):
            loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
+            print("PROBE inner", epoch, loss.item())
        print("epoch", epoch, total, evaluate(net, x, y))
+        print("PROBE outer", epoch, sum(float(p.detach().double().norm()) for p in net.parameters()))
+    print("PROBE after", [float(p.detach().double().sum()) for p in net.parameters()])
    return total


experiment.run(config_updates={"seed": 7}, options={"--loglevel": "ERROR"})
