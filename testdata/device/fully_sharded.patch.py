# florc: exact
# florc: why = FSDP2 over NCCL with mixed precision, activations computed again, memory that was full once.
import os
import socket

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(32, 256), nn.Linear(256, 1)
        self.middle = nn.Sequential(nn.Linear(256, 256), nn.Tanh(), nn.Dropout(0.1))

    def forward(self, x):
        return self.last(checkpoint(self.middle, self.first(x), use_reentrant=False))


def tried():
    try:
        torch.empty(1 << 50, device="cuda")
    except torch.cuda.OutOfMemoryError:
+        print("PROBE callback", "full")
        return "full"


def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK="0", WORLD_SIZE="1")
    torch.cuda.set_device(0)
    dist.init_process_group("nccl")
    torch.manual_seed(5)
    net = Net().cuda()
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    fully_shard(net.middle, mp_policy=policy)
    fully_shard(net, mp_policy=policy)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    data = torch.randn(800, 32)
    for epoch in range(5):
        for x in data.split(50):
            loss = (net(x.cuda()).float() - x.sum(1, keepdim=True).cuda()).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
+            print("PROBE inner", epoch, loss.item())
        print("epoch", epoch, loss.item(), tried())
+        print("PROBE outer", epoch, sum(p.full_tensor().double().norm().item() for p in net.parameters()))
    dist.destroy_process_group()
+    print("PROBE after", [p.to_local().double().sum().item() for p in net.parameters()])


main()
