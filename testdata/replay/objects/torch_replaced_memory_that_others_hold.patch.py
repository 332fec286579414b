# florc: exact
# florc: why = the same, and a list holds views of them
import torch
torch.manual_seed(0)


class Trainer:
    pass


trainer = Trainer()
trainer.params = {"w": torch.randn(6, 4)}
x = torch.randn(48, 6)
history = []
for epoch in range(5):
    for batch in torch.randperm(48).split(16):
        w = trainer.params["w"].clone().requires_grad_()
        loss = (x[batch] @ w).pow(2).mean()
        loss.backward()
        trainer.params["w"] = (w - 0.1 * w.grad).detach()
    history.append(trainer.params["w"].view(-1))
    print("epoch", epoch, loss.item())
+    print("PROBE", epoch, [round(kept.sum().item(), 6) for kept in history])
