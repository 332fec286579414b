# florc: exact
# florc: why = NCCL: DistributedDataParallel, an all_reduce of metrics, a sampler of ranks; one rank a device.
import os
import socket

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def reduced(value):
    out = torch.tensor(value, device="cuda")
    dist.all_reduce(out)
+    print("PROBE callback", out.item())
    return out.item()


def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1, device_id=torch.device("cuda:0"))
    torch.manual_seed(5)
    data = TensorDataset(torch.randn(1000, 32), torch.randn(1000, 1))
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, batch_size=50, sampler=sampler)
    net = DistributedDataParallel(nn.Sequential(nn.Linear(32, 256), nn.Tanh(), nn.Dropout(0.1), nn.Linear(256, 1)).cuda(), device_ids=[0])
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        total = 0.0
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x.cuda()), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
+            print("PROBE inner", epoch, loss.item())
        print("epoch", epoch, reduced(total))
+        print("PROBE outer", epoch, sum(p.detach().double().norm().item() for p in net.parameters()))
    dist.barrier()
    dist.destroy_process_group()
+    print("PROBE after", [p.detach().double().sum().item() for p in net.parameters()])


main()
