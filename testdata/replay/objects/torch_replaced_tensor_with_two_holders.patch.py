# florc: exact
# florc: why = two places hold the tensor that a block puts there; tuples hold the ones before
import torch
torch.manual_seed(0)
class M:
    def __init__(self):
        self.p = {"enc": torch.randn(4, 4), "head": torch.zeros(4)}
        self.last = self.p["enc"]
    def step(self):
        g = torch.randn(4, 4)
        self.p["enc"] = self.p["enc"] - 0.1 * g
        self.p["head"] = self.p["head"] + g.mean(0)
        self.last = self.p["enc"]
m = M()
snaps = []
for e in range(5):
    for i in range(10):
        m.step()
    snaps.append((m.p["enc"], m.p["head"]))
    print(e)
+    print("PROBE", e, [(a.sum().item(), b.sum().item()) for a, b in snaps])
