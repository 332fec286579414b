# florc: exact
# florc: unordered
# florc: why = Two processes share a device; gradients are averaged over gloo.
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def rank(number, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=number, world_size=2)
    torch.manual_seed(number)
    net = nn.Linear(16, 4).cuda()
    for p in net.parameters():
        dist.broadcast(p.data, 0)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(4):
        for step in range(10):
            loss = net(torch.randn(32, 16, device="cuda")).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            for p in net.parameters():
                dist.all_reduce(p.grad)
            optimizer.step()
        if number == 0:
            print("epoch", epoch, loss.item())
+        print("PROBE outer", number, epoch, loss.item(), net.weight.double().sum().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(rank, args=(port,), nprocs=2)
