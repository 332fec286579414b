# florc: exact
# florc: why = the best state is a dict of clones, in an attribute; a list holds each of them
import torch, copy
torch.manual_seed(0)
class Trainer:
    def __init__(self):
        self.net = torch.nn.Linear(4, 1); self.opt = torch.optim.SGD(self.net.parameters(), 0.05)
        self.best = float("inf"); self.best_state = None
    def epoch(self):
        for i in range(20):
            x = torch.randn(16, 4); l = (self.net(x).squeeze() - x.sum(1)).pow(2).mean()
            self.opt.zero_grad(); l.backward(); self.opt.step()
            if l.item() < self.best:
                self.best = l.item(); self.best_state = copy.deepcopy(self.net.state_dict())
t = Trainer(); states = []
for e in range(5):
    t.epoch()
    states.append(t.best_state)
    print(e, "%.4f" % t.best)
+    print("PROBE", e, [s["weight"].sum().item() for s in states])
torch.save(states, "states.pt")
