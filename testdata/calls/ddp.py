"""Distributed training: a sampler that shuffles per epoch, values reduced over processes."""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def reduce_mean(value):
    value = value.clone()
    dist.all_reduce(value, op=dist.ReduceOp.SUM)
    return value / dist.get_world_size()


def train(model, loader, optimizer, device):
    model.train()
    total = torch.zeros(1, device=device)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += reduce_mean(loss.detach())
    dist.barrier()
    return total.item() / len(loader)


def main():
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    model = DDP(Net().to(rank), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    sampler = DistributedSampler(dataset, shuffle=True)
    loader = DataLoader(dataset, batch_size=64, sampler=sampler)
    for epoch in range(10):
        sampler.set_epoch(epoch)
        loss = train(model, loader, optimizer, rank)
        if rank == 0:
            print(epoch, loss)
            torch.save(model.module.state_dict(), f"epoch{epoch}.pt")
    dist.destroy_process_group()


main()
