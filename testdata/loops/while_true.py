"""One flat loop over steps with gradient accumulation, in the style of small GPT training scripts."""
import torch

iter_num = 0
best_val_loss = 1e9
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
X, Y = get_batch("train")
while True:
    lr = get_lr(iter_num)
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr
    if iter_num % 100 == 0:
        losses = estimate_loss()
        best_val_loss = min(best_val_loss, losses["val"])
    for micro_step in range(4):
        logits, loss = model(X, Y)
        X, Y = get_batch("train")
        (loss / 4).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > 1000:
        break
