# florc: exact
# florc: why = torch.compile, bfloat16, a fused optimizer, accumulated gradients, attention of the device.
import math
import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(7)
torch.use_deterministic_algorithms(True)
torch.set_float32_matmul_precision("high")


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(q.size(-1))
        mask = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v
        x = x + self.proj(att.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, words=65, width=128, depth=2, length=64):
        super().__init__()
        self.token, self.position = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(depth))
        self.head = nn.Linear(width, words)

    def forward(self, ids, targets):
        x = self.token(ids) + self.position.weight[: ids.size(1)]
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())


def rate(step):
    return 1e-3 * min(1.0, (step + 1) / 20)


data = torch.randint(0, 65, (4096,))
data[1::2] = data[::2]
raw = GPT().cuda()
model = torch.compile(raw)
optimizer = torch.optim.AdamW(raw.parameters(), lr=1e-3, fused=True)
for step in range(60):
    for group in optimizer.param_groups:
        group["lr"] = rate(step)
    for micro in range(2):
        at = torch.randint(0, 4000, (16,))
        ids = torch.stack([data[i : i + 64] for i in at]).cuda()
        targets = torch.stack([data[i + 1 : i + 65] for i in at]).cuda()
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(ids, targets) / 2
        loss.backward()
+        print("PROBE inner", step, micro, loss.item())
    norm = nn.utils.clip_grad_norm_(raw.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if step % 10 == 9:
        print("step", step, 2 * loss.item())
+    print("PROBE outer", step, norm.item(), raw.head.weight.double().sum().item())
+print("PROBE after", [p.detach().double().norm().item() for p in raw.parameters()])
