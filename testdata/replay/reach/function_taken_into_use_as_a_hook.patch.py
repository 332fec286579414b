# florc: exact
# florc: restores = no
# florc: why = a function stood in the script that nothing named: an added statement registers it, and what it prints are answers
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())


def debug(module, inputs, output):
    dead = (output <= 0).float().mean().item()
    for part in (dead, 1 - dead):
        print("PROBE dead", part)


def short(module, inputs, output): print("PROBE short", output.shape[0])


+net[1].register_forward_hook(debug)
+net[0].register_forward_hook(short)
for epoch in range(3):
    for step in range(3):
        net(torch.randn(5, 4))
    print("epoch", epoch)
