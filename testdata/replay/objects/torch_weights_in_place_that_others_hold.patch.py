# florc: exact
# florc: why = the same tensor is written to in place: lists that hold it, or views of it, see that
import torch
torch.manual_seed(0)


class Trainer:
    pass


trainer = Trainer()
trainer.params = [torch.randn(6, 4)]
x = torch.randn(48, 6)
same, views = [trainer.params[0]], [trainer.params[0].view(-1)]
for epoch in range(5):
    for batch in torch.randperm(48).split(16):
        w = trainer.params[0].clone().requires_grad_()
        loss = (x[batch] @ w).pow(2).mean()
        loss.backward()
        trainer.params[0] -= 0.1 * w.grad
    print("epoch", epoch, loss.item())
+    print("PROBE", epoch, same[0] is trainer.params[0], same[0].sum().item(), views[0].sum().item())
