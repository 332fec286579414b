# florc: exact
# florc: why = early stopping keeps a copy of the state, and a list holds each of them
import torch, copy
torch.manual_seed(0)
net = torch.nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), 0.05)
class ES:
    best = 1e9; state = None; 
    def __call__(self, l, net):
        if l < self.best: self.best = l; self.state = copy.deepcopy(net.state_dict()); 
es = ES(); track = []
for e in range(5):
    for i in range(20):
        x = torch.randn(16, 4); l = (net(x).squeeze() - x.sum(1)).pow(2).mean()
        opt.zero_grad(); l.backward(); opt.step()
        es(l.item(), net)
    track.append(es.state)
    print(e, "%.4f" % es.best)
+    print("PROBE", e, [t["weight"].sum().item() for t in track], len({id(t) for t in track}))
