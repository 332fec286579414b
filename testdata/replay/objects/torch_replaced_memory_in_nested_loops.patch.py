# florc: exact
# florc: why = loops inside one that is restored are checkpointed, too: what they found is not what it began with
import torch
torch.manual_seed(0)


class Trainer:
    pass


trainer = Trainer()
trainer.params = {"w": torch.randn(6, 4)}
x = torch.randn(48, 6)
history = []
for fold in range(4):
    for epoch in range(3):
        for batch in torch.randperm(48).split(16):
            w = trainer.params["w"].clone().requires_grad_()
            loss = (x[batch] @ w).pow(2).mean()
            loss.backward()
            trainer.params["w"] = (w - 0.1 * w.grad).detach()
    history.append(trainer.params["w"].view(-1))
    print("fold", fold, loss.item())
+    print("PROBE", fold, [round(kept.sum().item(), 6) for kept in history])
