"""Loops that can be suspended are left alone."""
import torch


def batches(data, size):
    for start in range(0, len(data), size):
        yield torch.as_tensor(data[start:start + size])


async def serve(queue, model):
    while True:
        item = await queue.get()
        queue.task_done(model(item))


model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for batch in batches(data, 32):
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
    print(model.weight.sum().item())
