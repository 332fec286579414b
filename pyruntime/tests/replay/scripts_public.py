"""Shapes of public training programs that were once recorded or replayed wrongly."""

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

add(
    "parameters_of_parameters_of_layers",
    """
import random, time
random.seed(0)

class Neuron:
    def __init__(self, n): self.w = [random.random() for _ in range(n)]
    def parameters(self): return self.w

class Layer:
    def __init__(self, n): self.neurons = [Neuron(n) for _ in range(n)]
    def parameters(self): return [p for n in self.neurons for p in n.parameters()]

class MLP:
    def __init__(self): self.layers = [Layer(4), Layer(4)]
    def parameters(self): return [p for l in self.layers for p in l.parameters()]

model = MLP()
for k in range(3):
    for m in range(3):
        time.sleep(0.01)
        s = sum(p * p for p in model.parameters())
        for layer in model.layers:
            for nn in layer.neurons: nn.w[m] -= 0.1 * s
    print(k, s)
+    print("PROBE", k, sum(model.parameters()))
""",
    restores=None,
)

add(
    "global_that_a_closure_needs_later",
    """
import random, time

def make_task():
    def sample(n):
        return [rng.random() for _ in range(n)]
    return sample

def step(fn, w):
    time.sleep(0.01)
    return w - 0.1 * fn(w)

def train(fn, w):
    for it in range(3):
        for b in range(5):
            w = step(fn, w)
+        print("PROBE", it, w)
    return w

w = 1.0
for rnd in range(3):
    w = train(lambda v: 2 * v, w)
    print(rnd, w)
rng = random.Random(4)
for it in range(3):
    print(sum(make_task()(10)))
""",
    restores=None,
)

add(
    "gradients_of_the_teacher_read_beside_those_of_the_student",
    """
import time, torch
torch.manual_seed(0)
x = torch.randn(16, 4)
teacher, student = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
opt = torch.optim.SGD(teacher.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        loss = (teacher(x) - 1).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print("teacher", epoch, loss.item())

def batches():
    for i in range(4):
        time.sleep(0.01)
        yield x

optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for epoch in range(3):
    for batch in batches():
        with torch.no_grad():
            goal = teacher(batch)
        loss = (student(batch) - goal).pow(2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
+        for p in teacher.parameters():
+            if p.grad is not None: print("PROBE", epoch, p.grad.norm().item())
    print("student", epoch, loss.item())
""",
    restores=None,
)

add(
    "added_block_before_one_with_its_header",
    """
import time
total, seen = 0, []
for epoch in range(4):
    for i in range(3):
        time.sleep(0.01)
        total += i
+    if epoch % 2 == 0:
+        print("PROBE", epoch, total)
    if epoch % 2 == 0:
        print("even", total / 7)
+    for j, v in enumerate(seen):
+        print("PROBE", j, v)
    for j, v in enumerate(seen):
        seen[j] = v + 1
    seen.append(total)
    print(epoch, seen)
""",
)

add(
    "names_of_lambdas_and_comprehensions",
    """
import time
class Model:
    def __init__(self):
        self.weight = 1.0
    def items(self):
        return [("w", self.weight)]
    def step(self, size):
        self.weight += size
models = {"model": Model}
model = models["model"]()
def norms(model):
    params = {k: v for k, v in model.items()}
    for i in range(3):
        time.sleep(0.002)
        norm = {k: abs(p) for k, p in params.items()}
    return norm
print(norms(model))
square = lambda v: v * v
for epoch in range(4):
    opt = models["model"]()
    for _ in range(5):
        time.sleep(0.004)
        opt.step(epoch)
        model.step(opt.weight)
    k = lambda a, b: model.weight * a * b
    print(epoch, k(1, 2))
+    print("PROBE", {k: square(v) for k, v in model.items()})
""",
)
