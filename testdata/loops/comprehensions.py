"""Losses, gradients and metrics by comprehension; effects inside them count."""
import torch

nets = [Net() for _ in range(4)]
opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
momenta = {name: torch.zeros_like(p) for name, p in nets[0].named_parameters()}
seen, table = set(), []

for epoch in range(5):
    for x, y in zip(inputs, labels):
        losses = [torch.nn.functional.mse_loss(net(x), y) for net in nets]
        [opt.zero_grad() for opt in opts]
        sum(losses).backward()
        [opt.step() for opt in opts]
        {momenta[name].mul_(0.9).add_(p.grad) for name, p in nets[0].named_parameters()}
        list(map(lambda p: p.data.clamp_(-1, 1), nets[1].parameters()))
        fresh = [int(v) for v in y if (key := int(v)) not in seen and not seen.add(key)]
        table.append({i: loss.item() for i, loss in enumerate(losses)})
    print(epoch, {i: sum(row[i] for row in table) for i in range(4)}, len(fresh))
