"""Small scripts: progress bars of tqdm, whose counters programs read."""

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

add(
    "bar_of_all_steps",
    """
import time
from tqdm import tqdm
bar = tqdm(range(9), mininterval=100, bar_format="{desc} {n}{postfix}\\n")
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
        bar.update(1)
    print(w)
+    print("PROBE", epoch, bar.n, bar.total)
""",
)

add(
    "bar_as_context_with_texts",
    """
import time
from tqdm.auto import tqdm
w = 0
with tqdm(total=9, mininterval=100, bar_format="{desc} {n}{postfix}\\n") as bar:
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.01)
            w += i
            bar.update()
            bar.set_postfix(w=w, refresh=False)
            bar.set_description(f"epoch {epoch}", refresh=False)
        print(w)
+        print("PROBE", bar.n, bar.postfix, bar.desc)
    print("end", bar.n)
""",
)

add(
    "bar_that_draws_nothing",
    """
import time
from tqdm import tqdm
bar = tqdm(range(9), disable=True)
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
        bar.update(1)
        bar.set_description_str(f"step {w}")
    print(w)
+    print("PROBE", epoch, bar.n, bar.disable, getattr(bar, "desc", None))
""",
)

add(
    "bar_of_a_trainer",
    """
import time
from tqdm import trange
class Trainer:
    def __init__(self):
        self.bar, self.w = trange(9, mininterval=100, bar_format="{desc} {n}{postfix}\\n"), 0
    def step(self, i):
        time.sleep(0.01)
        self.w += i
        self.bar.update(2)
trainer = Trainer()
for epoch in range(3):
    for i in range(3):
        trainer.step(i)
    print(trainer.w)
+    print("PROBE", trainer.bar.n)
trainer.bar.close()
""",
)

add(
    "bar_that_is_run_over",
    """
import time
from tqdm import tqdm
w = 0
for epoch in range(3):
    bar = tqdm([1, 2, 3], mininterval=100, bar_format="{desc} {n}{postfix}\\n")
    for x in bar:
        time.sleep(0.01)
        w += x
        bar.set_postfix(w=w, refresh=False)
    bar.set_description("done", refresh=False)
    print(w)
+    print("PROBE", bar.n, bar.disable, bar.postfix)
""",
)

add(
    "bar_that_only_the_added_statement_reads",
    """
import time
from tqdm import tqdm
w = 0
for epoch in range(3):
    bar = tqdm([1, 2, 3], mininterval=100, bar_format="{desc} {n}{postfix}\\n")
    for x in bar:
        time.sleep(0.01)
        w += x
    print(w)
+    print("PROBE", bar.n, bar.disable)
""",
    restores=None,
)

add(
    "bar_that_is_closed_inside",
    """
import time
from tqdm import tqdm
bars = [tqdm(total=3, mininterval=100, bar_format="{desc} {n}{postfix}\\n") for epoch in range(3)]
w = 0
for bar in bars:
    for i in range(3):
        time.sleep(0.01)
        w += i
        bar.update(1)
        if i == 2:
            bar.close()
    bar.update(1)
    print(w)
+    print("PROBE", [(b.n, b.disable) for b in bars])
""",
)

add(
    "bar_with_a_name_over_a_loader",
    """
import torch
from tqdm import tqdm
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(torch.randn(8, 2), batch_size=2, shuffle=True)
for epoch in range(2):
    bar = tqdm(loader, mininterval=100, bar_format="{desc} {n}{postfix}\\\\n")
    for x in bar:
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        opt.step()
+        print("PROBE", epoch, loss.item())
    bar.close()
    print(loss.item())
""",
    restores=None,
)

add(
    "bar_that_says_where_it_writes",
    """
import sys, time
from tqdm import tqdm
class Trainer:
    def __init__(self):
        self.total = 0
    def fit(self):
        for epoch in range(4):
            bar = tqdm(self.items(), total=5, file=sys.stderr, leave=False)
            for i, item in enumerate(bar):
                time.sleep(0.005)
                self.total += item
                bar.set_postfix(total=self.total)
            print(epoch, self.total)
+            print("PROBE", epoch, self.total)
    def items(self):
        return [1, 2, 3, 4, 5]
Trainer().fit()
""",
)
