"""Small training programs, most with torch."""

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

HEAD = """
import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)
"""

add(
    "torch_basic",
    HEAD
    + """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
+    print("PROBE", net.weight.norm().item(), opt.state_dict()["state"][0]["momentum_buffer"].sum().item())
""",
)

add(
    "torch_grad_probe",
    HEAD
    + """
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
+    print("PROBE", net.weight.grad.norm().item())
""",
    restores=None,
)

add(
    "torch_gradient_accumulation",
    HEAD
    + """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
step = 0
for epoch in range(4):
    for i in range(3):
        time.sleep(0.01)
        ((net(X[i::4]) - Y[i::4]) ** 2).mean().backward()
        step += 1
        if step % 4 == 0:
            opt.step()
            opt.zero_grad()
    print(epoch, net.weight.sum().item())
+    print("PROBE", net.weight.norm().item(), step)
""",
)

add(
    "torch_dropout_batchnorm",
    HEAD
    + """
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
def train():
    net.train()
    total = 0.0
    for i in torch.randperm(4):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        total += loss.item()
    return total
@torch.no_grad()
def test():
    net.eval()
    return ((net(X) - Y) ** 2).mean().item()
for epoch in range(3):
    a = train()
    b = test()
    print(a, b)
+    print("PROBE", a, b, net[1].running_mean.norm().item(), net.training)
print(torch.rand(1))
+print("PROBE", net[1].num_batches_tracked.item())
""",
)

add(
    "torch_scheduler",
    HEAD
    + """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
warm = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        sched.step()
    warm.step(loss.item())
    print(loss.item())
+    print("PROBE", sched.get_last_lr(), opt.param_groups[0]["lr"], warm.best, sched.last_epoch)
""",
)

add(
    "torch_ema",
    HEAD
    + """
import copy
net = nn.Linear(4, 1)
ema = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        with torch.no_grad():
            for p, e in zip(net.parameters(), ema.parameters()):
                e.mul_(0.9).add_(p, alpha=0.1)
    print(loss.item())
+    print("PROBE", ema.weight.norm().item(), net.weight.norm().item())
""",
)

add(
    "torch_swa",
    HEAD
    + """
net = nn.Linear(4, 1)
avg = torch.optim.swa_utils.AveragedModel(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        avg.update_parameters(net)
    print(loss.item())
+    print("PROBE", avg.module.weight.norm().item(), avg.n_averaged.item())
""",
)

add(
    "torch_optimizer_replaced",
    HEAD
    + """
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for epoch in range(4):
    if epoch == 2:
        opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(type(opt).__name__, loss.item())
+    print("PROBE", type(opt).__name__, len(opt.state), net.weight.norm().item())
""",
)

add(
    "torch_optimizer_replaced_in_inner",
    HEAD
    + """
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
step = 0
for epoch in range(4):
    for i in range(3):
        time.sleep(0.01)
        step += 1
        if step == 5:
            opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", type(opt).__name__, len(opt.state), net.weight.norm().item())
""",
    restores=None,
)

add(
    "torch_model_replaced_in_inner",
    HEAD
    + """
net = nn.Linear(4, 1)
old = net
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        grown = nn.Linear(4, 1)
        with torch.no_grad():
            grown.weight.copy_(net.weight + 0.1)
        net = grown
    print(net.weight.sum().item())
+    print("PROBE", net.weight.norm().item(), old.weight.norm().item(), old is net)
""",
)

add(
    "torch_frozen_unfrozen",
    HEAD
    + """
net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
for p in net[0].parameters():
    p.requires_grad = False
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    for i in range(3):
        time.sleep(0.01)
        if epoch == 1 and i == 1:
            for p in net[0].parameters():
                p.requires_grad_(True)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", net[0].weight.requires_grad, net[0].weight.norm().item())
""",
)

add(
    "torch_param_data_manual",
    HEAD
    + """
net = nn.Linear(4, 1)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        net.zero_grad()
        loss.backward()
        for p in net.parameters():
            p.data.add_(p.grad, alpha=-0.1)
    print(loss.item())
+    print("PROBE", net.weight.norm().item())
""",
)

add(
    "torch_manual_tensors",
    HEAD
    + """
w = torch.zeros(4, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((X[i::4] @ w + b - Y[i::4]) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            b -= 0.1 * b.grad
            w.grad.zero_()
            b.grad = None
    print(loss.item())
+    print("PROBE", w.norm().item(), b.item(), w.requires_grad)
""",
)

add(
    "torch_rebound_parameters",
    HEAD
    + """
params = {"w": torch.zeros(4, 1)}
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w = params["w"].clone().requires_grad_()
        loss = ((X[i::4] @ w - Y[i::4]) ** 2).mean()
        (g,) = torch.autograd.grad(loss, w)
        params["w"] = (w - 0.1 * g).detach()
    print(loss.item())
+    print("PROBE", params["w"].norm().item())
""",
)

add(
    "torch_hidden_state_over_batches",
    HEAD
    + """
rnn = nn.GRU(4, 3)
opt = torch.optim.SGD(rnn.parameters(), lr=0.1)
hidden = torch.zeros(1, 4, 3)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        out, hidden = rnn(X[i::4].view(1, 4, 4) if len(X[i::4]) == 4 else X[:4].view(1, 4, 4), hidden.detach())
        loss = (out ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", hidden.norm().item())
""",
)

add(
    "torch_dataloader_shuffle",
    HEAD
    + """
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(X, Y), batch_size=4, shuffle=True)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        time.sleep(0.01)
        loss = ((net(x) - y) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", loss.item(), x.sum().item(), i)
""",
    restores=None,
)

add(
    "torch_dataloader_generator",
    HEAD
    + """
from torch.utils.data import DataLoader, TensorDataset
g = torch.Generator().manual_seed(5)
loader = DataLoader(TensorDataset(X, Y), batch_size=4, shuffle=True, generator=g)
total = 0.0
for epoch in range(3):
    for x, y in loader:
        time.sleep(0.01)
        total += (x.sum() * y.sum()).item()
    print(total)
+    print("PROBE", total)
print(torch.rand(1, generator=g))
+print("PROBE", torch.rand(1).item())
""",
)

add(
    "torch_dataset_with_state",
    HEAD
    + """
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __init__(self): self.served = 0
    def __len__(self): return 8
    def __getitem__(self, k):
        self.served += 1
        return X[k] * self.served
d = D()
loader = DataLoader(d, batch_size=4)
total = 0.0
for epoch in range(3):
    for x in loader:
        time.sleep(0.01)
        total += x.sum().item()
    print(total)
+    print("PROBE", total, d.served)
""",
)

add(
    "torch_early_stopping_best_model",
    HEAD
    + """
import copy
class Stopper:
    def __init__(self, patience): self.patience, self.bad, self.best, self.state = patience, 0, float("inf"), None
    def __call__(self, loss, model):
        if loss < self.best:
            self.best, self.bad = loss, 0
            self.state = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.4)
stop = Stopper(2)
for epoch in range(8):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        val = ((net(X[3::4]) - Y[3::4]) ** 2).mean().item()
    print(epoch, val)
+    print("PROBE", val, stop.best, stop.bad)
    if stop(val, net):
        print("stop")
        break
net.load_state_dict(stop.state)
print(net.weight.sum().item())
+print("PROBE", net.weight.norm().item())
""",
)

add(
    "torch_state_dict_alias",
    HEAD
    + """
net = nn.Linear(4, 1)
best = net.state_dict()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", best["weight"].norm().item(), best["weight"].data_ptr() == net.weight.data_ptr())
""",
)

add(
    "torch_module_plain_attributes",
    HEAD
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 1)
        self.calls = 0
        self.seen = []
    def forward(self, x):
        self.calls += 1
        self.seen.append(x.sum().item())
        return self.lin(x)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", net.calls, net.seen)
""",
)

add(
    "torch_tied_weights",
    HEAD
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.b.weight = self.a.weight
    def forward(self, x): return self.b(self.a(x)).sum(1, keepdim=True)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", net.a.weight is net.b.weight, net.b.weight.norm().item())
""",
)

add(
    "torch_lbfgs_closure",
    HEAD
    + """
net = nn.Linear(4, 1)
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=3)
evals = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        def closure():
            global evals
            evals += 1
            opt.zero_grad()
            loss = ((net(X) - Y) ** 2).mean()
            loss.backward()
            return loss
        loss = opt.step(closure)
    print(loss.item(), evals)
+    print("PROBE", net.weight.norm().item(), evals)
""",
)

add(
    "torch_train_step_in_forward",
    HEAD
    + """
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def forward(self, x, y):
        loss = ((self.net(x) - y) ** 2).mean()
        self.opt.zero_grad(); loss.backward(); self.opt.step()
        return loss.item()
agent = Agent()
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = agent(X[i::4], Y[i::4])
    print(loss)
+    print("PROBE", loss, agent.net.weight.norm().item())
""",
)

add(
    "torch_finish_episode",
    HEAD
    + """
policy = nn.Linear(4, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
rewards, log_probs = [], []
running = 0.0
def finish_episode():
    loss = torch.stack([-lp * r for lp, r in zip(log_probs, rewards)]).sum()
    opt.zero_grad(); loss.backward(); opt.step()
    del rewards[:], log_probs[:]
def main():
    global running
    for episode in range(3):
        state = torch.randn(4)
        for t in range(4):
            time.sleep(0.01)
            dist = torch.distributions.Categorical(torch.softmax(policy(state), 0))
            action = dist.sample()
            log_probs.append(dist.log_prob(action))
            rewards.append(float(action) + 0.1 * t)
            state = state * 0.9
        running = 0.5 * running + 0.5 * sum(rewards)
        finish_episode()
        print(running)
+        print("PROBE", running, policy.weight.norm().item())
main()
""",
    restores=False,
)

add(
    "torch_hooks",
    HEAD
    + """
acts = {}
net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1))
def hook(module, args, out):
    acts["n"] = acts.get("n", 0) + 1
    acts["last"] = out.detach().mean().item()
net[0].register_forward_hook(hook)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", acts)
""",
    restores=None,
)

add(
    "torch_kfold",
    HEAD
    + """
from sklearn.model_selection import KFold
scores = []
for fold, (tr, va) in enumerate(KFold(2).split(X)):
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        for i in range(3):
            time.sleep(0.01)
            loss = ((net(X[tr][i::3]) - Y[tr][i::3]) ** 2).mean()
            opt.zero_grad(); loss.backward(); opt.step()
        print(fold, epoch, loss.item())
+        print("PROBE", fold, epoch, net.weight.norm().item())
    scores.append(loss.item())
print(scores)
+print("PROBE", scores)
""",
)

add(
    "torch_loss_list_of_tensors",
    HEAD
    + """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
losses = []
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        losses.append(loss.detach())
    print(torch.stack(losses).mean().item())
+    print("PROBE", [l.item() for l in losses])
""",
)

add(
    "torch_loss_with_graph_after",
    HEAD
    + """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item(), loss.requires_grad)
+    print("PROBE", loss, loss.grad_fn is not None)
""",
    restores=None,
)

add(
    "torch_flat_training_loop",
    HEAD
    + """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(12):
    time.sleep(0.005)
    loss = ((net(X[step % 4::4]) - Y[step % 4::4]) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 4 == 3:
        print(step, loss.item())
+        print("PROBE", net.weight.norm().item())
print(net.weight.sum().item())
""",
    restores=None,
)

add(
    "numpy_sgd_momentum",
    """
import time
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
params = {"w": np.zeros(3), "b": 0.0}
velocity = {k: np.zeros_like(v) for k, v in params.items()}
def grads(p, xb, yb):
    err = xb @ p["w"] + p["b"] - yb
    return {"w": xb.T @ err / len(yb), "b": err.mean()}
for epoch in range(3):
    order = rng.permutation(20)
    for s in range(0, 20, 5):
        time.sleep(0.005)
        idx = order[s:s + 5]
        g = grads(params, X[idx], y[idx])
        for k in params:
            velocity[k] = 0.9 * velocity[k] - 0.1 * g[k]
            params[k] += velocity[k]
    loss = float(((X @ params["w"] + params["b"] - y) ** 2).mean())
    print(epoch, loss)
+    print("PROBE", params, velocity)
""",
)

add(
    "sklearn_partial_fit",
    """
import time
import numpy as np
from sklearn.linear_model import SGDClassifier
rng = np.random.RandomState(0)
X = rng.randn(40, 3); y = (X[:, 0] > 0).astype(int)
clf = SGDClassifier(random_state=0)
for epoch in range(3):
    for s in range(0, 40, 20):
        time.sleep(0.01)
        clf.partial_fit(X[s:s + 20], y[s:s + 20], classes=[0, 1])
    print(clf.score(X, y))
+    print("PROBE", clf.coef_.tolist(), clf.t_)
""",
)

add(
    "tqdm_bar",
    """
import time, sys
from tqdm import tqdm
w = 0
for epoch in range(3):
    bar = tqdm(range(3), disable=True)
    for i in bar:
        time.sleep(0.01)
        w += i
        bar.set_postfix(w=w)
    print(w)
+    print("PROBE", w)
""",
)

add(
    "tqdm_with_outer",
    """
import time, sys
from tqdm import tqdm
w = 0
with tqdm(total=9, disable=True) as bar:
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.01)
            w += i
            bar.update(1)
        print(w)
+        print("PROBE", w)
""",
    restores=None,
)

add(
    "meter_class_from_imagenet",
    """
import time
class AverageMeter:
    def __init__(self, name): self.name = name; self.reset()
    def reset(self): self.val = self.avg = self.sum = self.count = 0
    def update(self, val, n=1):
        self.val = val; self.sum += val * n; self.count += n; self.avg = self.sum / self.count
class Progress:
    def __init__(self, n, meters): self.n, self.meters = n, meters
    def display(self, k): print(k, self.n, [(m.name, m.val, m.avg) for m in self.meters])
def train(epoch):
    losses, top1 = AverageMeter("loss"), AverageMeter("top1")
    progress = Progress(4, [losses, top1])
    for i in range(4):
        time.sleep(0.01)
        losses.update(1 / (i + 1 + epoch), 2)
        top1.update(i)
    progress.display(i)
+    print("PROBE", losses.avg, top1.sum)
    return losses.avg
best = 9
for epoch in range(3):
    best = min(best, train(epoch))
    print(best)
+    print("PROBE", best)
""",
)

add(
    "replay_buffer_env",
    """
import time, random, collections
random.seed(0)
class Env:
    def __init__(self): self.x = 0
    def reset(self): self.x = 0; return self.x
    def step(self, a):
        self.x += a; return self.x, -abs(self.x), abs(self.x) > 3
env = Env()
buffer = collections.deque(maxlen=10)
q = collections.defaultdict(float)
eps = 1.0
for episode in range(4):
    s = env.reset()
    done = False
    steps = 0
    while not done and steps < 6:
        time.sleep(0.005)
        a = random.choice([-1, 1]) if random.random() < eps else max([-1, 1], key=lambda k: q[s, k])
        t, r, done = env.step(a)
        buffer.append((s, a, r, t))
        for bs, ba, br, bt in random.sample(list(buffer), min(3, len(buffer))):
            q[bs, ba] += 0.1 * (br + 0.9 * max(q[bt, -1], q[bt, 1]) - q[bs, ba])
        s = t
        eps *= 0.95
        steps += 1
    print(episode, steps, round(eps, 4))
+    print("PROBE", s, done, steps, eps, sorted(q.items()), list(buffer)[-1])
""",
    restores=None,
)
