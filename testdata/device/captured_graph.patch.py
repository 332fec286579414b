# florc: exact
# florc: restores = no
# florc: why = A captured step: what the graph writes is memory that a restore must fill in place.
import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, capturable=True)
x, y = torch.randn(128, 64, device="cuda"), torch.zeros(128, 1, device="cuda")


def forward():
    optimizer.zero_grad(set_to_none=False)
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        forward()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = forward()

for epoch in range(6):
    total = 0.0
    for step in range(20):
        x.copy_(torch.randn(128, 64))
        y.copy_(x.sum(1, keepdim=True) / 8)
        graph.replay()
        total += loss.item()
+        print("PROBE inner", epoch, step, total)
    print("epoch", epoch, total)
+    print("PROBE outer", epoch, [p.detach().double().sum().item() for p in net.parameters()])
+print("PROBE after", [p.grad.double().norm().item() for p in net.parameters()])
