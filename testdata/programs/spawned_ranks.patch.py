# florc: exact
# florc: again outer = train.L1 1 ×
# florc: again inner = train.L1 1 ×, train.L2 4 ×
# florc: again callback = train.L1 1 ×
# florc: why = Ranks that the script spawns are recorded beside it, and replayed where it spawns them.
# florc: longer = range(4) -> range(12)
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def rate(epoch):
+    if dist.get_rank() == 0:
+        print("PROBE callback", epoch, flush=True)
    return 0.9**epoch


def train(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(3)
    x = torch.randn(2000, 32)
    y = (x[:, 0] * x[:, 1]).unsqueeze(1)
    net = DistributedDataParallel(nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 1)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    torch.manual_seed(rank)
    for epoch in range(4):
        for batch in torch.randperm(len(x)).split(40):
            loss = nn.functional.mse_loss(net(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
+            if rank == 0:
+                print("PROBE inner", epoch, loss.item(), flush=True)
        scheduler.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        if rank == 0:
            print("epoch", epoch, total.item(), flush=True)
+            print("PROBE outer", epoch, sum(float(p.detach().double().norm()) for p in net.parameters()), flush=True)
    if rank == 0:
        torch.save(net.module.state_dict(), "net.pt")
    for turn in range(world):  # a replay that restores the loop has these lines to compare
        if rank == turn:
            print("rank", rank, "ends", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.stdout.flush()
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    mp.spawn(train, args=(2, port), nprocs=2)
    saved = torch.load("net.pt")
    print("trained", len(saved))
+    print("PROBE after", [float(p.double().sum()) for p in saved.values()])
