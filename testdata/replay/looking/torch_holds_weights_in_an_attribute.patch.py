# florc: unsure
# florc: restores = any
# florc: why = an added statement holds a weight where nobody looks for it
import torch
torch.manual_seed(0)


class Trainer:
    pass


trainer = Trainer()
trainer.params = {"w": torch.randn(6, 4)}
x = torch.randn(48, 6)
+trainer.first = trainer.params["w"]
for epoch in range(5):
    for batch in torch.randperm(48).split(16):
        w = trainer.params["w"].clone().requires_grad_()
        loss = (x[batch] @ w).pow(2).mean()
        loss.backward()
        trainer.params["w"] = (w - 0.1 * w.grad).detach()
    print("epoch", epoch, loss.item())
+    print("PROBE", epoch, trainer.first.sum().item())
