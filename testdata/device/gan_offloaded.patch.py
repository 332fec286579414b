# florc: exact
# florc: why = Two optimizers, an average of the weights, state that moves between host and device, a sparse embedding.
import copy
import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
from torch import nn

torch.cuda.manual_seed_all(13)
torch.manual_seed(13)
made = nn.Sequential(nn.Linear(16, 128), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(128, 8)).to("cuda")
judge = nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(8, 64)), nn.LeakyReLU(0.2), nn.Linear(64, 1)).to("cuda")
words = nn.Embedding(50, 8, sparse=True).to("cuda")
average = copy.deepcopy(made).requires_grad_(False)
first, second = torch.optim.Adam(made.parameters(), lr=2e-4), torch.optim.RMSprop(judge.parameters(), lr=2e-4)
third = torch.optim.SparseAdam(list(words.parameters()), lr=1e-2)
best = {}


def blended(step):
    with torch.no_grad():
        for a, p in zip(average.parameters(), made.parameters()):
            a.lerp_(p, 0.1)
+    print("PROBE callback", step, next(average.parameters()).double().sum().item())


for epoch in range(5):
    for step in range(25):
        real = words(torch.randint(0, 50, (64,), device="cuda"))
        fake = made(torch.randn(64, 16, device="cuda"))
        second.zero_grad(), third.zero_grad()
        (judge(fake.detach()).relu().mean() + (1 - judge(real)).relu().mean()).backward()
        second.step(), third.step()
        first.zero_grad()
        loss = -judge(made(torch.randn(64, 16, device="cuda"))).mean()
        loss.backward()
        first.step()
        blended(step)
+        print("PROBE inner", epoch, loss.item())
    average.to("cpu")
    best[epoch] = {name: value.clone() for name, value in average.state_dict().items()}
    average.to("cuda")
    print("epoch", epoch, loss.item())
+    print("PROBE outer", epoch, sum(p.double().norm().item() for p in average.parameters()), len(best))
+print("PROBE after", [sum(v.double().sum().item() for v in kept.values()) for kept in best.values()])
