# Gradient accumulation under bfloat16 autocast, with a GradScaler that is
# switched off where there is no GPU.
import hashlib
import math
from contextlib import nullcontext

import torch
import torch.nn as nn
import torch.nn.functional as F
from pydoc_data.topics import topics
from torch.amp import GradScaler, autocast

device_type = "cuda" if torch.cuda.is_available() else "cpu"
use_amp = True
accum_iter = 4
block_size, batch_size, steps_per_epoch, epochs = 16, 24, 40, 5
clip_grad = 1.0
warmup = 2

torch.manual_seed(99)
torch.set_num_threads(1)

raw = "\n".join(topics[k] for k in sorted(topics)[:40]).encode()
corpus = torch.frombuffer(bytearray(raw), dtype=torch.uint8).long() % 128
train_ids, val_ids = corpus[:-4000], corpus[-4000:]


class ByteMLP(nn.Module):
    def __init__(self, dim=24, hidden=128):
        super().__init__()
        self.emb = nn.Embedding(128, dim)
        self.norm = nn.LayerNorm(dim * block_size)
        self.fc1 = nn.Linear(dim * block_size, hidden)
        self.fc2 = nn.Linear(hidden, 128)

    def forward(self, ids):
        h = self.norm(self.emb(ids).flatten(1))
        h = F.relu(self.fc1(h)).square()
        return self.fc2(h)


def sample(ids):
    at = torch.randint(len(ids) - block_size - 1, (batch_size,))
    offsets = at[:, None] + torch.arange(block_size + 1)
    window = ids[offsets]
    return window[:, :-1], window[:, -1]


def adjust_learning_rate(optimizer, epoch, base=4e-3):
    """Half-cycle cosine after warmup, per iteration rather than per epoch"""
    if epoch < warmup:
        lr = base * epoch / warmup
    else:
        lr = base * 0.5 * (1.0 + math.cos(math.pi * (epoch - warmup) / (epochs - warmup)))
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr * param_group.get("lr_scale", 1.0)
    return lr


model = ByteMLP().to(device_type)
optimizer = torch.optim.AdamW([
    {"params": [p for n, p in model.named_parameters() if n.startswith("emb")], "lr_scale": 0.5},
    {"params": [p for n, p in model.named_parameters() if not n.startswith("emb")]},
], lr=4e-3, betas=(0.9, 0.95))
scaler = GradScaler(device_type, enabled=use_amp and device_type == "cuda")
context = autocast(device_type, dtype=torch.bfloat16) if use_amp else nullcontext()

for epoch in range(epochs):
    optimizer.zero_grad()
    losses = []
    for data_iter_step in range(steps_per_epoch):
        if data_iter_step % accum_iter == 0:
            adjust_learning_rate(optimizer, data_iter_step / steps_per_epoch + epoch)
        x, y = sample(train_ids)
        with context:
            logits = model(x)
            loss = F.cross_entropy(logits, y)
        loss_value = loss.item()
        if not math.isfinite(loss_value):
            raise SystemExit("Loss is {}, stopping training".format(loss_value))
        loss /= accum_iter
        scaler.scale(loss).backward()
        if (data_iter_step + 1) % accum_iter == 0:
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), clip_grad)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        losses.append(loss_value)

    model.eval()
    val = 0.0
    for _ in range(8):
        with torch.no_grad(), context:
            x, y = sample(val_ids)
            val += F.cross_entropy(model(x), y).item() / 8
    model.train()
    print(f"epoch {epoch} train {sum(losses) / len(losses):.5f} val {val:.5f} grad norm {norm:.5f} "
          f"lr {optimizer.param_groups[1]['lr']:.6f}")

sha = hashlib.sha256(b"".join(v.cpu().numpy().tobytes() for v in model.state_dict().values()))
print("weights", sha.hexdigest()[:16])
