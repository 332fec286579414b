# florc: exact
# florc: why = Graphs that torch.compile captures by itself, and captures again in the replay; the last batch has another shape.
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")  # about what is compiled, which is there the next time

torch.manual_seed(17)
net = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 1)).cuda()
model = torch.compile(net, mode="reduce-overhead")
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
data = torch.randn(200, 32, device="cuda")
for epoch in range(6):
    for batch in data.split(64):
        torch.compiler.cudagraph_mark_step_begin()
        loss = (model(batch) - batch.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
+        print("PROBE inner", epoch, loss.item())
    print("epoch", epoch, loss.item())
+    print("PROBE outer", epoch, [p.detach().double().sum().item() for p in net.parameters()])
+print("PROBE after", [p.detach().double().norm().item() for p in net.parameters()])
