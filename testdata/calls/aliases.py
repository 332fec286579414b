"""Objects under other names: what changes is what the name stands for."""
import torch

shadow = {name: p.clone() for name, p in net.named_parameters()}

for epoch in range(3):
    for batch in loader:
        loss = net(batch).mean()
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p.data.add_(p.grad, alpha=-0.1)
                p.grad.zero_()
            for name, p in net.named_parameters():
                shadow[name].mul_(0.9).add_(p, alpha=0.1)
    print(epoch)
