# florc: flagged
# florc: why = in training mode each access of the weight advances the power iteration: the statement names what nothing else names
import time
import torch
from torch.nn.utils import parametrizations
torch.manual_seed(0)
net = parametrizations.spectral_norm(torch.nn.Linear(3, 3))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for step in range(3):
        optimizer.zero_grad()
        net(torch.randn(2, 3)).sum().backward()
        optimizer.step()
        time.sleep(0)
+    print("PROBE", epoch, net.weight.sum().item())
    print("epoch", epoch)
