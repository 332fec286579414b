"""Added statements that do more than print: bind names, call modules, draw, change what the script goes on with."""

from cases import Cases

SCRIPTS = Cases()

TRAINING = """
import time, torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(8, 3)
losses, best = [], None
for i, p in enumerate(net.parameters()):
    p.data.mul_(1.5)

def evaluate(model, data):
    out = model(data).sum().item()
#function
    return out

for epoch in range(4):
    for i in range(3):
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.01)
#inner
    losses.append(loss.item())
#outer
    best = min(losses)
    print(epoch, losses[-1], best)
#after
"""


def add(name: str, added: str, at: str = "outer", **options: object) -> None:
    """A case: these lines added to the training at a place."""
    steps = {"function": "    ", "inner": "        ", "outer": "    ", "after": ""}
    lines = "".join(f"+{steps[at]}{line}\n" for line in added.splitlines())
    text = TRAINING.replace(f"#{at}\n", lines)
    for other in steps:
        text = text.replace(f"#{other}\n", "")
    SCRIPTS.add(name, text, **options)


# What they bind is nobody else's, or dead.
add("binds_loop_names_that_are_dead", 'for i, p in enumerate(net.parameters()): print("PROBE", i, p.norm().item())')
add(
    "binds_dead_names_in_the_inner_loop",
    'for i, p in enumerate(net.parameters()): print("PROBE", i, p.grad.norm().item())',
    at="inner",
    restores=None,
)
add("binds_a_dead_name_first_and_reads_it_then", 'p = net[0].weight.norm()\nprint("PROBE", p.item())')
add("binds_dead_names_after", 'for i, p in enumerate(net.parameters()): print("PROBE", i, p.norm().item())', at="after")
add("keeps_a_list_of_its_own", 'norms = [p.norm().item() for p in net.parameters()]\nnorms.append(1.0)\nprint("PROBE", norms)')
add(
    "keeps_something_on_an_object_of_the_script",
    'net.norm_in_hindsight = net[0].weight.norm().item()\nprint("PROBE", net.norm_in_hindsight)',
)

# What they change, they put back.
MODE = 'net.eval()\nprint("PROBE", net(x).sum().item())\nnet.train()'
add("evaluates_in_between", MODE)
add("evaluates_in_between_in_the_inner_loop", MODE, at="inner", restores=None)
add("evaluates_in_between_on_one_line", 'net.eval(); print("PROBE", net(x).sum().item()); net.train()')
add("draws_apart", 'with torch.random.fork_rng():\n    torch.manual_seed(5)\n    print("PROBE", torch.rand(1).item())')
add(
    "hooks_and_removes",
    "net.eval()\nseen = []\nhook = net[0].register_forward_hook(lambda m, a, o: seen.append(o.sum().item()))\n"
    'net(x)\nhook.remove()\nnet.train()\nprint("PROBE", seen)',
    restores=None,
)
add("draws_when_all_is_over", 'print("PROBE", torch.rand(2).sum().item(), net(x).sum().item())', at="after")

# Had they been there, another run would have been recorded.
add("draws", 'print("PROBE", torch.rand(1).item())', flagged=True)
add("draws_once", 'if epoch == 1: print("PROBE", torch.rand(1).item())', flagged=True)
add("draws_in_a_module", 'print("PROBE", net(x).sum().item())', flagged=True)
add("moves_running_statistics", 'with torch.random.fork_rng(): print("PROBE", evaluate(net, x))', flagged=True)
add("evaluates_and_stays_so", 'net.eval()\nprint("PROBE", net(x).sum().item())', flagged=True)
add("appends_to_the_list_of_the_script", 'losses.append(0.0)\nprint("PROBE", len(losses))', flagged=True)
add("changes_the_learning_rate", 'optimizer.param_groups[0]["lr"] *= 0.5\nprint("PROBE", epoch)', flagged=True)
add("seeds", 'torch.manual_seed(1)\nprint("PROBE", epoch)', flagged=True)
add("draws_in_a_function", 'with torch.random.fork_rng(): print("PROBE", evaluate(net.eval(), x)); net.train()')
add(
    "takes_gradients_that_the_script_throws_away",
    "optimizer.zero_grad()\nnet.eval()\nnet(x).sum().backward()\n"
    'print("PROBE", net[0].weight.grad.sum().item())\noptimizer.zero_grad()\nnet.train()',
    restores=None,
)

ACCUMULATING = """
import time, torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 3)
for epoch in range(4):
    for i in range(5):
        net(x).pow(2).mean().backward()
        if (5 * epoch + i) % 2:
            optimizer.step()
            optimizer.zero_grad()
        time.sleep(0.01)
    print(epoch, net.weight.sum().item())
"""
SCRIPTS.add(
    "throws_gradients_away_that_the_script_needs",
    ACCUMULATING
    + """\
+    optimizer.zero_grad()
+    print("PROBE", net.weight.sum().item())
""",
    flagged=True,
)

# Read after the loop by what was added only: the record had no need of them.
SCRIPTS.add(
    "reads_what_the_loop_iterates_over_and_binds",
    """
import time
def detached(pair):
    return [v for v in pair]

def train():
    hidden, queue = (0, 0), []
    for i in range(5):
        hidden = detached(hidden)
        hidden = (hidden[1] + i, hidden[0] + 1)
        for q in queue:
            time.sleep(0.001)
        queue = queue + [i]
        if len(queue) > 3:
            queue = queue[1:]
        time.sleep(0.01)
+    print("PROBE", hidden, queue)

for epoch in range(3):
    train()
    print(epoch)
""",
    restores=None,
)
SCRIPTS.add(
    "reads_a_list_that_the_loop_changes_and_binds",
    """
import time
def train(queue):
    for i in range(5):
        queue.append(i)
        if len(queue) > 3:
            queue = queue[1:]
        time.sleep(0.01)
+    print("PROBE", queue)

for epoch in range(3):
    rows = [epoch]
    train(rows)
    print(epoch, rows)
""",
    restores=None,
)

FORWARD = """
import time, torch
torch.manual_seed(0)

class Mixture(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.calls = torch.nn.Linear(3, 3), 0
    def forward(self, x):
        {left}
        return self.layer(x)

net = Mixture()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 3)
for epoch in range(3):
    for i in range(3):
        loss = net(x).pow(2).mean() + net.aux_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.01)
+    with torch.no_grad():
+        print("PROBE", net(x).sum().item())
    print(epoch, loss.item())
"""
SCRIPTS.add(
    "calls_a_module_that_leaves_a_loss_behind", FORWARD.format(left="self.aux_loss = 0.01 * self.layer.weight.pow(2).sum()")
)
SCRIPTS.add(
    "calls_a_module_that_counts_its_calls",
    FORWARD.format(left="self.calls += 1; self.aux_loss = 0.01 * self.calls"),
    flagged=True,
)

SCRIPTS.add(
    "metric_that_keeps_what_it_computed",
    """
import time, torch
class Metric(torch.nn.Module):
    __module__ = "torchmetrics.metric"
    def __init__(self):
        super().__init__()
        self.total, self._computed = 0, None
    def update(self, value):
        self.total, self._computed = self.total + value, None
    def compute(self):
        self._computed = self.total if self._computed is None else self._computed
        return self._computed
    def reset(self):
        self.total, self._computed = 0, None
metric = Metric()
for epoch in range(4):
    for i in range(5):
        time.sleep(0.005)
        metric.update(i * epoch)
    print(epoch)
+    print("PROBE", metric.compute())
    metric.reset()
""",
)
