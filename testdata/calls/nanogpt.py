"""A flat loop over steps, with micro-batches inside and an evaluation now and then."""
import math

import numpy as np
import torch

data = np.memmap("train.bin", dtype=np.uint16, mode="r")
model = torch.compile(GPT())
optimizer = model.configure_optimizers(0.1, 6e-4)
scaler = torch.cuda.amp.GradScaler(enabled=False)
iter_num, best_val_loss = 0, 1e9


def get_batch(split):
    ix = torch.randint(len(data) - 256, (12,))
    x = torch.stack([torch.from_numpy(data[i:i + 256].astype(np.int64)) for i in ix])
    return x, x.roll(-1)


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(200)
        for k in range(200):
            X, Y = get_batch(split)
            logits, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


def get_lr(it):
    return 6e-4 * it / 100 if it < 100 else 3e-4 * (1.0 + math.cos(math.pi * it / 6e5))


X, Y = get_batch("train")
while True:
    lr = get_lr(iter_num)
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr
    if iter_num % 2000 == 0:
        losses = estimate_loss()
        if losses["val"] < best_val_loss:
            best_val_loss = losses["val"]
            torch.save({"model": model.state_dict(), "iter": iter_num}, "ckpt.pt")
    for micro_step in range(40):
        logits, loss = model(X, Y)
        X, Y = get_batch("train")
        scaler.scale(loss / 40).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > 600000:
        break
