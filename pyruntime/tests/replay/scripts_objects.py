"""Names, objects, aliases: what a skipped loop must put back."""

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

add(
    "global_counter",
    """
import time
steps = 0
def step():
    global steps
    time.sleep(0.01)
    steps += 1
def train():
    for epoch in range(3):
        for i in range(3):
            step()
        print(epoch, steps)
+        print("PROBE", steps)
train()
""",
)

add(
    "nonlocal_counter",
    """
import time
def main():
    n = 0
    def bump(by):
        nonlocal n
        time.sleep(0.01)
        n += by
    for epoch in range(3):
        for i in range(3):
            bump(i)
        print(epoch, n)
+        print("PROBE", n)
main()
""",
    restores=None,
)

add(
    "closure_with_loop",
    """
import time
def make():
    total = 0
    def train(k):
        nonlocal total
        for i in range(3):
            time.sleep(0.01)
            total += i * k
        return total
    return train
train = make()
for epoch in range(3):
    r = train(epoch)
    print(r)
+    print("PROBE", r)
""",
    restores=None,
)

add(
    "module_state_no_arguments",
    """
import time
state = {"w": 0, "log": []}
def finish():
    time.sleep(0.01)
    state["w"] += 1
    state["log"].append(state["w"])
for epoch in range(3):
    for i in range(3):
        finish()
    print(state["w"])
+    print("PROBE", state)
""",
)

add(
    "method_self_counter",
    """
import time
class Trainer:
    def __init__(self):
        self.step, self.history = 0, []
    def train(self):
        for epoch in range(3):
            for i in range(3):
                time.sleep(0.01)
                self.step += 1
            self.history.append(self.step)
            print(epoch, self.step)
+            print("PROBE", self.step, self.history)
Trainer().train()
""",
)

add(
    "probe_in_method_called_by_inner",
    """
import time
class Trainer:
    def __init__(self):
        self.w = 1
    def one(self, i):
        time.sleep(0.01)
        self.w = (self.w * 5 + i) % 97
+        print("PROBE", self.w)
    def run(self):
        for epoch in range(2):
            for i in range(3):
                self.one(i)
            print(self.w)
Trainer().run()
""",
    restores=False,
)

add(
    "probe_in_function_of_one_loop_only",
    """
import time
w = 1
def a(i):
    time.sleep(0.01)
    return i * 2
def b(i):
    time.sleep(0.01)
+    print("PROBE", i, w)
    return i * 3
for epoch in range(3):
    for i in range(3):
        w += a(i)
    for i in range(2):
        w += b(i)
    print(w)
""",
)

add(
    "class_attribute",
    """
import time
class Counter:
    total = 0
    def hit(self):
        time.sleep(0.01)
        Counter.total += 1
c = Counter()
for epoch in range(3):
    for i in range(3):
        c.hit()
    print(Counter.total)
+    print("PROBE", Counter.total)
""",
    restores=None,
)

add(
    "class_attribute_through_type_self",
    """
import time
class Counter:
    total = 0
    seen = []
    def hit(self, i):
        time.sleep(0.01)
        type(self).total += 1
        self.seen.append(i)
c = Counter()
for epoch in range(3):
    for i in range(3):
        c.hit(i)
    print(Counter.total, len(Counter.seen))
+    print("PROBE", Counter.total, Counter.seen)
""",
    restores=None,
)

add(
    "class_attribute_classmethod",
    """
import time
class Registry:
    items = {}
    @classmethod
    def put(cls, k, v):
        time.sleep(0.01)
        cls.items[k] = v
        cls.last = k
for epoch in range(3):
    for i in range(2):
        Registry.put(f"{epoch}{i}", i)
    print(len(Registry.items))
+    print("PROBE", Registry.items, Registry.last)
""",
    restores=None,
)

add(
    "class_attribute_by_instance",
    """
import time
class Meter:
    history = []
class Net:
    def __init__(self):
        self.meter = Meter()
    def fit(self, x):
        time.sleep(0.01)
        self.meter.history.append(x)
net = Net()
for epoch in range(3):
    for i in range(2):
        net.fit(epoch * i)
    print(len(Meter.history))
+    print("PROBE", Meter.history)
""",
    restores=None,
)

add(
    "function_attribute",
    """
import time
def step(i):
    time.sleep(0.01)
    step.calls = getattr(step, "calls", 0) + 1
    return step.calls * i
for epoch in range(3):
    for i in range(3):
        r = step(i)
    print(r)
+    print("PROBE", r, step.calls)
""",
    restores=None,
)

add(
    "mutable_default",
    """
import time
def remember(x, seen=[]):
    time.sleep(0.01)
    seen.append(x)
    return len(seen)
for epoch in range(3):
    for i in range(2):
        n = remember(i)
    print(n)
+    print("PROBE", n, remember.__defaults__)
""",
    restores=None,
)

add(
    "mutable_default_dict_cache",
    """
import time
def fib(n, cache={}):
    time.sleep(0.001)
    if n not in cache:
        cache[n] = n if n < 2 else fib(n - 1) + fib(n - 2)
    return cache[n], len(cache)
def fib(n, cache={}):
    time.sleep(0.003)
    if n not in cache:
        cache[n] = n if n < 2 else fib(n - 1)[0] + fib(n - 2)[0]
    return cache[n], len(cache)
out = None
for epoch in range(3):
    for i in range(4):
        out = fib(epoch * 2 + i)
    print(out)
+    print("PROBE", out)
last = fib(20)
print(last)
+print("PROBE", last)
""",
    restores=None,
)

add(
    "lru_cache",
    """
import time, functools
@functools.lru_cache(maxsize=None)
def f(n):
    time.sleep(0.005)
    return n * 2
for epoch in range(3):
    for i in range(3):
        x = f(epoch + i)
    print(x)
+    print("PROBE", x, f.cache_info().misses)
""",
    restores=None,
)

add(
    "decorated_counter",
    """
import time, functools
def counted(f):
    @functools.wraps(f)
    def wrapper(*a):
        wrapper.calls += 1
        return f(*a)
    wrapper.calls = 0
    return wrapper
@counted
def work(i):
    time.sleep(0.01)
    return i
for epoch in range(3):
    for i in range(3):
        r = work(i)
    print(r, work.calls)
+    print("PROBE", work.calls)
""",
    restores=None,
)

add(
    "decorator_with_list",
    """
import time
log = []
def logged(f):
    def inner(x):
        log.append(x)
        return f(x)
    return inner
@logged
def work(i):
    time.sleep(0.01)
    return i + 1
y = 0
for epoch in range(3):
    for i in range(3):
        y = work(y)
    print(y)
+    print("PROBE", y, log)
""",
    restores=None,
)

add(
    "list_alias",
    """
import time
a = []
b = a
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        a.append(i)
    print(len(b))
+    print("PROBE", b, a is b)
""",
)

add(
    "list_augmented_alias",
    """
import time
a = []
b = a
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        a += [i]
    print(len(a))
+    print("PROBE", b, a is b)
""",
)

add(
    "list_rebound_alias_breaks",
    """
import time
a = [0]
b = a
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        a = a + [i]
    print(len(a))
+    print("PROBE", a, b, a is b)
""",
)

add(
    "alias_created_inside",
    """
import time
pool = [[0], [1], [2]]
best = pool[0]
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        pool[i].append(epoch)
        if i == epoch:
            best = pool[i]
    print(best)
+    best.append("x")
+    print("PROBE", pool, best)
+    best.pop()
""",
    restores=None,
)

add(
    "alias_identity_after",
    """
import time
pool = [[0], [1], [2]]
best = pool[0]
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        pool[i].append(epoch)
        if i == epoch:
            best = pool[i]
    print(best)
+    print("PROBE", [p is best for p in pool])
""",
)

add(
    "element_alias_in_for",
    """
import time
rows = [{"n": 0}, {"n": 10}]
for epoch in range(3):
    for i in range(2):
        for row in rows:
            time.sleep(0.005)
            row["n"] += 1
    print(rows)
+    print("PROBE", rows)
""",
)

add(
    "dict_of_lists",
    """
import time, collections
hist = collections.defaultdict(list)
count = collections.Counter()
recent = collections.deque(maxlen=4)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        hist[i % 2].append(epoch)
        count[i] += epoch
        recent.append((epoch, i))
    print(len(hist))
+    print("PROBE", dict(hist), count, list(recent), recent.maxlen)
""",
)

add(
    "ordered_dict_and_set",
    """
import time, collections
od = collections.OrderedDict()
seen = set()
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        od[(epoch * i) % 4] = i
        od.move_to_end((epoch * i) % 4)
        seen |= {i * epoch}
    print(len(od))
+    print("PROBE", list(od.items()), sorted(seen))
""",
)

add(
    "dataclass",
    """
import time
from dataclasses import dataclass, field, replace
@dataclass
class State:
    step: int = 0
    losses: list = field(default_factory=list)
@dataclass(frozen=True)
class Config:
    lr: float
s = State()
c = Config(1.0)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        s.step += 1
        s.losses.append(i / s.step)
        c = replace(c, lr=c.lr * 0.9)
    print(s.step)
+    print("PROBE", s, c)
""",
)

add(
    "namedtuple_slots_enum",
    """
import time, enum
from typing import NamedTuple
class P(NamedTuple):
    a: int
    b: list
class Slot:
    __slots__ = ("x", "y")
class Mode(enum.Enum):
    ON = 1
    OFF = 2
p, s, m = P(0, []), Slot(), Mode.ON
s.x = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        p = P(p.a + 1, p.b)
        p.b.append(i)
        s.x += i
        s.y = p
        m = Mode.OFF if m is Mode.ON else Mode.ON
    print(p.a)
+    print("PROBE", p, s.x, s.y is p, m, m is Mode.OFF)
""",
)

add(
    "shared_between_places",
    """
import time
class Net:
    def __init__(self): self.w = [1, 2]
class Opt:
    def __init__(self, net): self.params = net.w
    def step(self): self.params[0] += 1
net = Net()
opt = Opt(net)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        opt.step()
    print(net.w)
+    print("PROBE", net.w, opt.params is net.w)
""",
)

add(
    "rebound_object_shared_elsewhere",
    """
import time
class Best:
    state = None
best = {"score": -1, "state": None}
cur = {"w": 0}
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        cur = {"w": cur["w"] + 1}
    if cur["w"] % 2:
        best = {"score": cur["w"], "state": cur}
    print(best["score"])
+    print("PROBE", best, best["state"] is cur)
""",
)

add(
    "in_place_through_view",
    """
import time
import numpy as np
params = {"w": np.zeros(4)}
w = params["w"]
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w -= 0.5 * (i + 1)
        w[:2] += 1
    print(w.sum())
+    print("PROBE", params["w"].tolist(), w is params["w"])
""",
)

add(
    "a_view_of_what_the_block_only_reads",
    """
import time
import torch
whole = torch.zeros(3)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        view = whole[1:]
    for i in range(3):
        time.sleep(0.01)
        whole += i
    print(epoch, view.sum())
+    print("PROBE", view.tolist(), whole.tolist())
""",
    xfail="a view that is restored gets memory of its own when the block leaves what it looks at as it is",
)

add(
    "alias_made_inside_loop",
    """
import time
import numpy as np
params = {"w": np.zeros(4), "b": np.ones(2)}
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w = params["w"]
        w -= 0.5
        b = params.get("b")
        b *= 2
        v = w.reshape(2, 2)
        v[0] += 3
    print(params["w"].sum())
+    print("PROBE", params)
""",
)

add(
    "function_returns_alias",
    """
import time
import numpy as np
params = {"w": np.zeros(3)}
def get(name):
    return params[name]
def view(a):
    return a[1:]
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w = get("w")
        w += 1
        t = view(params["w"])
        t *= 2
    print(params["w"].sum())
+    print("PROBE", params["w"].tolist())
""",
)

add(
    "method_returns_alias",
    """
import time
class Bank:
    def __init__(self): self._rows = {}
    def row(self, k):
        return self._rows.setdefault(k, [])
bank = Bank()
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        r = bank.row(i % 2)
        r.append(epoch)
    print(len(bank._rows))
+    print("PROBE", bank._rows)
""",
)

add(
    "property_returns_alias",
    """
import time
class Bank:
    def __init__(self): self._rows = []
    @property
    def rows(self): return self._rows
    @property
    def mean(self):
        self.asked = getattr(self, "asked", 0) + 1
        return sum(self._rows) / max(1, len(self._rows))
bank = Bank()
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        bank.rows.append(i)
        m = bank.mean
    print(m)
+    print("PROBE", m, bank._rows, bank.asked)
""",
    restores=None,
)

add(
    "property_setter",
    """
import time
class Opt:
    def __init__(self): self._lr, self.changes = 1.0, 0
    @property
    def lr(self): return self._lr
    @lr.setter
    def lr(self, v):
        self._lr = v
        self.changes += 1
opt = Opt()
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        opt.lr *= 0.5
    print(opt.lr)
+    print("PROBE", opt.lr, opt.changes)
""",
    restores=None,
)

add(
    "custom_operators",
    """
import time
class Vec:
    made = 0
    def __init__(self, x): self.x, self.ops = x, 0
    def __iadd__(self, o):
        self.x += o; self.ops += 1
        return self
    def __getitem__(self, k):
        self.ops += 1
        return self.x
    def __call__(self, k):
        self.ops += 100
        return k
    def __contains__(self, k):
        self.ops += 1000
        return True
    def __len__(self):
        self.ops += 10000
        return 3
v = Vec(0)
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        v += i
        a = v[0]
        b = v(1)
        if 3 in v:
            c = len(v)
    print(v.x)
+    print("PROBE", v.x, v.ops)
""",
    restores=None,
)

add(
    "getitem_with_state",
    """
import time
class Data:
    def __init__(self): self.reads = 0
    def __len__(self): return 3
    def __getitem__(self, k):
        if k >= 3: raise IndexError
        self.reads += 1
        return k
data = Data()
for epoch in range(3):
    for x in data:
        time.sleep(0.01)
        y = x
    z = data[1]
    print(data.reads)
+    print("PROBE", data.reads)
""",
    restores=None,
)

add(
    "subscript_read_with_state",
    """
import time
class Data:
    def __init__(self): self.reads = 0
    def __getitem__(self, k):
        self.reads += 1
        return k
data = Data()
for epoch in range(3):
    s = 0
    for i in range(3):
        time.sleep(0.01)
        s += data[i]
    print(s, data.reads)
+    print("PROBE", data.reads)
""",
    restores=None,
)

add(
    "iterable_class_with_state",
    """
import time
class Loader:
    def __init__(self): self.epoch = 0
    def __iter__(self):
        self.epoch += 1
        return iter(range(self.epoch))
loader = Loader()
n = 0
for epoch in range(3):
    for x in loader:
        time.sleep(0.01)
        n += x
    print(n)
+    print("PROBE", n, loader.epoch)
""",
)

add(
    "iterator_class",
    """
import time
class Source:
    def __init__(self): self.pos = 0
    def __iter__(self): return self
    def __next__(self):
        self.pos += 1
        if self.pos % 4 == 0:
            raise StopIteration
        return self.pos
src = Source()
n = 0
for epoch in range(3):
    for x in src:
        time.sleep(0.01)
        n += x
    print(n)
+    print("PROBE", n, src.pos)
""",
    restores=None,
)

add(
    "generator_method_iter",
    """
import time
class Loader:
    def __init__(self): self.served = 0
    def __iter__(self):
        for i in range(3):
            self.served += 1
            yield i
loader = Loader()
n = 0
for epoch in range(3):
    for x in loader:
        time.sleep(0.01)
        n += x
    print(n)
+    print("PROBE", n, loader.served)
""",
)

add(
    "custom_setattr",
    """
import time
class Rec:
    def __init__(self): object.__setattr__(self, "log", [])
    def __setattr__(self, k, v):
        self.log.append(k)
        object.__setattr__(self, k, v)
r = Rec()
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        r.x = i
    print(r.x)
+    print("PROBE", r.x, r.log)
""",
    restores=None,
)

add(
    "comprehension_side_effects",
    """
import time
log = []
def f(x):
    log.append(x)
    return x * x
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        sq = [f(x) for x in range(i + 1)]
        [log.append(-x) for x in sq]
    print(sum(log))
+    print("PROBE", log, sq)
""",
    restores=None,
)

add(
    "map_side_effects",
    """
import time
log = []
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        list(map(log.append, range(i + 1)))
    print(len(log))
+    print("PROBE", log)
""",
)

add(
    "lambda_mutates",
    """
import time
box = {"n": 0}
bump = lambda k: box.update(n=box["n"] + k)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        bump(i)
    print(box)
+    print("PROBE", box)
""",
)

add(
    "bound_method_stored",
    """
import time
log = []
push = log.append
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        push(i)
    print(len(log))
+    print("PROBE", log)
""",
    restores=None,
)

add(
    "callback_list",
    """
import time
class Saver:
    def __init__(self): self.best = None
    def __call__(self, state):
        if self.best is None or state["loss"] < self.best:
            self.best = state["loss"]
            state["saved"] = state.get("saved", 0) + 1
state = {"loss": 10}
callbacks = [Saver()]
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        state["loss"] -= 1 if i != 1 else -1
        for cb in callbacks:
            cb(state)
    print(state["loss"])
+    print("PROBE", state, callbacks[0].best)
""",
)

add(
    "callback_returns_value",
    """
import time
def make(store):
    def cb(x):
        store.append(x)
        return x + 1
    return cb
store = []
cb = make(store)
y = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        y = cb(y)
    print(y)
+    print("PROBE", y, store)
""",
    restores=None,
)

add(
    "callbacks_in_dict",
    """
import time
log = []
def on_a(x): log.append(("a", x)); return x
def on_b(x): log.append(("b", x)); return -x
table = {"a": on_a, "b": on_b}
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        r = table["ab"[i % 2]](i)
    print(r, len(log))
+    print("PROBE", log)
""",
    restores=None,
)

add(
    "functools_partial",
    """
import time, functools
log = []
def add(store, x):
    store.append(x)
    return len(store)
push = functools.partial(add, log)
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        n = push(i)
    print(n)
+    print("PROBE", log)
""",
    restores=None,
)

add(
    "nested_function_defined_in_loop",
    """
import time
out = []
for epoch in range(3):
    for i in range(2):
        def closure(k=i):
            out.append(k)
            return k * epoch
        time.sleep(0.01)
        r = closure()
    print(r)
+    print("PROBE", out, closure(5), out)
""",
    flagged=True,
)

add(
    "closure_kept_in_list",
    """
import time
fs = []
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        fs.append(lambda k=i: k * 10)
    print(len(fs))
+    print("PROBE", [f() for f in fs])
""",
    restores=None,
)

add(
    "inheritance_super",
    """
import time
class Base:
    def __init__(self): self.count = 0
    def fit(self, x):
        time.sleep(0.01)
        self.count += 1
        self.hook(x)
    def hook(self, x): pass
class Child(Base):
    def __init__(self):
        super().__init__()
        self.seen = []
    def hook(self, x):
        self.seen.append(x)
m = Child()
for epoch in range(3):
    for i in range(3):
        m.fit(i)
    print(m.count)
+    print("PROBE", m.count, m.seen)
""",
)

add(
    "inheritance_hook_on_global",
    """
import time
calls = []
class Base:
    def fit(self, x):
        time.sleep(0.01)
        return self.hook(x)
    def hook(self, x): return 0
class Child(Base):
    def hook(self, x):
        calls.append(x)
        return x
m = [Base(), Child()]
for epoch in range(3):
    for i in range(3):
        r = m[1].fit(i)
    print(r)
+    print("PROBE", r, calls)
""",
)

add(
    "deep_attribute_chain",
    """
import time
class N: pass
root = N(); root.a = N(); root.a.b = N(); root.a.b.c = 0
leaf = root.a.b
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        root.a.b.c += i
    print(leaf.c)
+    print("PROBE", leaf.c, root.a.b is leaf)
""",
)

add(
    "linked_list",
    """
import time
class Node:
    def __init__(self, v, nxt): self.v, self.next = v, nxt
head = Node(0, None)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        head = Node(i, head)
        node = head
        while node.next is not None:
            node.v += 1
            node = node.next
    print(head.v)
+    vs, n = [], head
+    while n: vs.append(n.v); n = n.next
+    print("PROBE", vs)
""",
    restores=None,
)

add(
    "setattr_computed",
    """
import time
class S: pass
s = S()
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        setattr(s, f"x{i}", epoch)
    print(s.x1)
+    print("PROBE", vars(s))
""",
    restores=None,
)

add(
    "globals_write",
    """
import time
def put(k, v):
    globals()[k] = v
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        put(f"g{i}", epoch)
    print(g1)
+    print("PROBE", g0, g1)
""",
    restores=None,
)

add(
    "instance_dict_write",
    """
import time
class S: pass
s = S()
d = s.__dict__
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        d["x"] = (epoch, i)
        s.__dict__.update(y=i)
    print(s.x)
+    print("PROBE", s.x, s.y)
""",
    restores=None,
)

add(
    "exec_in_loop",
    """
import time
ns = {"n": 0}
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        exec("n += 1", ns)
    print(ns["n"])
+    print("PROBE", ns["n"])
""",
    restores=None,
)

add(
    "module_attribute_write",
    """
import time, types
config = types.SimpleNamespace(lr=1.0)
import sys
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        config.lr *= 0.5
        sys.mine = getattr(sys, "mine", 0) + 1
    print(config.lr)
+    print("PROBE", config.lr, sys.mine)
""",
)

add(
    "module_attribute_set_by_name",
    """
import time, sys
config = {"lr": 1.0}
sys.mine = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        config["lr"] *= 0.5
        setattr(sys, "mine", sys.mine + 1)
    print(config["lr"])
+    print("PROBE", config["lr"], sys.mine)
""",
    restores=False,
)

add(
    "environ_write",
    """
import time, os
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        os.environ["MY_STEP"] = f"{epoch}-{i}"
    print(epoch)
+    print("PROBE", os.environ["MY_STEP"])
""",
    restores=None,
)

add(
    "large_ints_floats_special",
    """
import time
vals = {}
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        vals = {"big": 10 ** 40 + i, "nan": float("nan"), "ninf": float("-inf"), "nz": -0.0, "c": 1 + 2j, "b": b"x\\x00",
                "s": "\\ud83d\\ude00 \\x00", "none": None, "e": ..., "t": (1, (2, [3])), "f": frozenset({1}), "r": range(3),
                "sl": slice(1, 2), True: 1, 2.5: "k", None: 0}
    print(len(vals))
+    print("PROBE", repr(vals))
""",
)

add(
    "self_referential",
    """
import time
a = []
a.append(a)
d = {}
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        a.append(i)
        d["self"] = d
        d[i] = a
    print(len(a))
+    print("PROBE", a[0] is a, d["self"] is d, d[0] is a, len(a))
""",
)

add(
    "weird_types_in_state",
    """
import time, decimal, fractions, datetime, pathlib, uuid
state = {}
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        state.update(d=decimal.Decimal("1.10") * i, f=fractions.Fraction(1, i + 2), t=datetime.timedelta(seconds=i),
                     p=pathlib.PurePosixPath("/a") / str(i), day=datetime.date(2020, 1, 1 + i), u=uuid.UUID(int=i))
    print(len(state))
+    print("PROBE", state)
""",
    restores=None,
)

add(
    "function_in_state",
    """
import time, math
ops = {}
def double(x): return 2 * x
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        ops = {"f": double, "m": math.sin, "t": int, "k": epoch}
    print(len(ops))
+    print("PROBE", ops["f"] is double, ops["m"] is math.sin, ops["t"], ops["k"])
""",
    restores=None,
)

add(
    "swap_names",
    """
import time
a, b = [1], [2]
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        a, b = b, a
        a.append(epoch)
    print(a, b)
+    print("PROBE", a, b)
""",
)

add(
    "conditional_rebind_or_mutate",
    """
import time
buf = []
keep = buf
for epoch in range(4):
    for i in range(3):
        time.sleep(0.01)
        if epoch % 2:
            buf = [i]
        else:
            buf.append(i)
    print(len(buf))
+    print("PROBE", buf, keep, buf is keep)
""",
)

add(
    "global_rebound_by_helper_alias_elsewhere",
    """
import time
best = None
saved = []
def update(x):
    global best
    best = {"x": x}
    saved.append(best)
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        update(epoch * i)
    print(best)
+    print("PROBE", best, saved[-1] is best, len(saved))
""",
)

add(
    "tuple_unpack_kept",
    """
import time
def step(a, b): return a + 1, [b, a]
a, b = 0, []
(first, *rest), last = (0, 1, 2), 3
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        a, b = step(a, b)
        (first, *rest), last = (a, i, i), b
    print(a)
+    print("PROBE", a, b, first, rest, last, last is b)
""",
    restores=None,
)

add(
    "string_building",
    """
import time
text = ""
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        text += f"{epoch}:{i};"
    print(len(text))
+    print("PROBE", text)
""",
)

add(
    "name_shadowed_by_import",
    """
import time
import math as model
print(model.pi)
model = [model.pi]
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        model.append(i)
    print(len(model))
+    print("PROBE", model)
""",
)

add(
    "builtin_shadowed",
    """
import time
def print_(*a): print(*a)
list_ = list
sum = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        sum += i
    print(sum)
+    print("PROBE", sum)
""",
)

add(
    "star_args_mutation",
    """
import time
def push(*lists, **named):
    time.sleep(0.01)
    for l in lists:
        l.append(len(l))
    for k, l in named.items():
        l.append(k)
a, b, c = [], [], []
for epoch in range(3):
    for i in range(2):
        push(a, b, name=c)
        push(*[a, b], **{"other": c})
    print(len(a), len(c))
+    print("PROBE", a, b, c)
""",
)

add(
    "context_object_argument_container",
    """
import time
ctx = {"parts": [[], []]}
def touch(c, k):
    time.sleep(0.01)
    part = c["parts"][k]
    part.append(k)
    return part
for epoch in range(3):
    for i in range(2):
        p = touch(ctx, i)
    print(ctx)
+    print("PROBE", ctx, p is ctx["parts"][1])
""",
    restores=None,
)

add(
    "global_in_probe_only",
    """
import time
hidden = []
def f(i):
    time.sleep(0.01)
    hidden.append(i)
    return i
for epoch in range(3):
    t = 0
    for i in range(3):
        t += f(i)
    print(t)
+    print("PROBE", hidden)
""",
)

add(
    "attribute_of_argument_default_none",
    """
import time
class M:
    def __init__(self): self.n = 0
default = M()
def step(m=None):
    m = m or default
    time.sleep(0.01)
    m.n += 1
for epoch in range(3):
    for i in range(3):
        step()
    print(default.n)
+    print("PROBE", default.n)
""",
)

add(
    "singleton_factory",
    """
import time
_instance = None
class Logger:
    def __init__(self): self.rows = []
    def row(self, x): self.rows.append(x)
def get():
    global _instance
    if _instance is None:
        _instance = Logger()
    return _instance
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        get().row(i)
    print(len(get().rows))
+    print("PROBE", get().rows, get() is _instance)
""",
)

add(
    "del_attribute_and_items",
    """
import time
class S: pass
s = S(); d = {}; l = []
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        s.tmp = i
        d[i] = epoch
        l[:] = [i, epoch]
        if i == 2:
            del s.tmp, d[0], l[0]
    print(d, l)
+    print("PROBE", hasattr(s, "tmp"), d, l)
""",
    restores=None,
)

add(
    "heapq_and_bisect",
    """
import time, heapq, bisect
h, s = [], []
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        heapq.heappush(h, (i * 7) % 5)
        bisect.insort(s, (i * 3 + epoch) % 4)
    x = heapq.heappop(h)
    print(x)
+    print("PROBE", x, h, s)
""",
)

add(
    "random_shuffle_argument",
    """
import time, random
random.seed(1)
order = list(range(6))
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        random.shuffle(order)
    print(order[0])
+    print("PROBE", order)
""",
)

add(
    "data_set_with_an_index_by_label",
    """
import random, time
from collections import defaultdict
from torch.utils.data import DataLoader, Dataset
random.seed(1)
class Pairs(Dataset):
    def __init__(self):
        self.by_label, self.drawn = defaultdict(list), 0
        for i in range(12):
            self.by_label[i % 3].append(i)
    def __len__(self):
        return 12
    def __getitem__(self, i):
        self.drawn += 1
        return random.choice(self.by_label[i % 3])
data = Pairs()
loader = DataLoader(data, batch_size=4)
total = 0
for epoch in range(3):
    for batch in loader:
        time.sleep(0.01)
        total += int(batch.sum())
    print(epoch, total, data.drawn)
+    print("PROBE", total, data.drawn, random.getstate()[1][:3], data.by_label[0])
""",
)

add(
    "other_name_of_an_object_whose_attribute_is_bound",
    """
import time
class Node:
    def __init__(self):
        self.v, self.kids = 0, []
    def bump(self, k):
        self.v += k
        return self
def main():
    one, two = Node(), Node()
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.01)
            two = one.bump(1)
        two.v += 1
        two.kids.append(epoch)
+        print("PROBE", one.v, one.kids, one is two)
main()
""",
)

add(
    "object_that_refers_to_the_one_whose_attribute_is_bound",
    """
import time
class Model:
    owner = None
class Trainer:
    def __init__(self):
        self.steps, self.model, self.log = 0, Model(), []
    def fit(self):
        for epoch in range(3):
            for i in range(3):
                time.sleep(0.01)
                self.steps += 1
                self.model.owner = self
            self.model.owner.log.append(epoch)
+            print("PROBE", self.steps, self.log, self.model.owner is self)
Trainer().fit()
""",
)

add(
    "iterators_in_a_dict_are_consumed",
    """
import time
def cycle(items):
    while True:
        for item in items:
            yield item
streams = {"a": cycle([1, 2, 3]), "b": cycle([5, 7])}
total = 0
for epoch in range(4):
    for i in range(3):
        time.sleep(0.01)
        total += next(streams["b" if i == 2 else "a"])
    x = next(streams["a"])
+    print("PROBE", total, x)
""",
    restores=None,
)

add(
    "loaders_in_a_dict_have_generators_of_their_own",
    """
import time, random
class Loader:
    def __init__(self, seed):
        self.rng, self.epochs = random.Random(seed), 0
    def __iter__(self):
        self.epochs += 1
        return iter([self.rng.random() for _ in range(3)])
loaders = {"train": Loader(1), "val": Loader(2)}
total = 0.0
for epoch in range(3):
    for x in loaders["train"]:
        time.sleep(0.01)
        total += x
+    print("PROBE", total, loaders["train"].epochs, loaders["train"].rng.getstate()[1][-1])
""",
    restores=None,
)

add(
    "dict_by_id",
    """
import time
class Net:
    w = 0
a, b = Net(), Net()
norms = {}
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        a.w += epoch + i
        b.w += i
        norms[id(a)], norms[id(b)] = a.w, b.w
    print(a.w)
+    print("PROBE", [norms.get(id(net)) for net in (a, b)])
""",
    restores=False,
)

for kept, (before, after, asked) in {
    "set": ("seen = set()", "seen.add(id(a))", "id(a) in seen"),
    "defaultdict": ("norms = collections.defaultdict(int)", "norms[id(a)] += a.w", "norms[id(a)]"),
    "attribute": ("", "a.twin = id(a)", "a.twin == id(a)"),
    "value": ("found = {}", "found['a'] = id(a)", "found['a'] == id(a)"),
    "name": ("found = None", "found = id(a)", "found == id(a)"),
    "numbers": ("found = []", "found = [id(a)] * 100", "found[-1] == id(a)"),
    "pair": ("found = []", "found.append((i, id(a)))", "found[-1][1] == id(a)"),
    "hash": ("seen = set()", "seen.add(hash(a))", "hash(a) in seen"),
    "text": ("seen = {}", "seen[str(id(a))] = a.w", "seen.get(str(id(a)))"),
    "repr": ("seen = set()", "seen.add(repr(a))", "repr(a) in seen"),
    "array": ("import numpy\nseen = numpy.zeros(9, numpy.int64)", "seen[i] = id(a)", "id(a) in seen"),
    "unsigned": ("import numpy\nseen = numpy.zeros(9, numpy.uint64)", "seen[i] = id(a)", "id(a) in seen"),
}.items():
    add(
        f"address_in_{kept}",
        f"""
import collections, time
class Net:
    w = 0
a = Net()
{before}
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        a.w += epoch + i
        {after}
    print(a.w)
+    print("PROBE", {asked})
""",
        restores=False,
    )

for size in ("None", "4"):
    add(
        f"cache_of_numbers_{size}",
        f"""
import functools, time
@functools.lru_cache(maxsize={size})
def square(x):
    return x * x
total = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        total += square(i + epoch)
    print(total)
+    print("PROBE", total, square(2))
""",
        restores=True,
    )

    add(
        f"cache_of_objects_{size}",
        f"""
import functools, time
@functools.lru_cache(maxsize={size})
def meter(name):
    return [name]
total = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        total += len(meter("a"))
        meter("a").append(i)
    print(total)
+    print("PROBE", meter("a"))
""",
        restores=None,
    )

add(
    "masked_array_in_place",
    """
import time
import numpy as np
m = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])
other = m
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        m[0] += 1
        m[1] = np.ma.masked
    print(float(m.sum()))
+    print("PROBE", other.tolist(), m is other)
""",
    restores=None,
)

add(
    "sparse_matrix_in_place",
    """
import time
import numpy as np
try:
    from scipy import sparse
except ImportError:
    raise SystemExit
m = sparse.csr_matrix(np.eye(3))
held = [m]
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        m.data *= 2
        m[0, 0] += 1
    print(float(m.sum()))
+    print("PROBE", held[0].toarray().tolist(), held[0] is m)
""",
    restores=None,
)

add(
    "text_in_memory",
    """
import io, time
text, data = io.StringIO(), io.BytesIO()
total = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        total += i
        text.write(f"{epoch} {i};")
        data.write(bytes([epoch, i]))
    print(total)
+    print("PROBE", total, text.getvalue(), text.tell(), data.getvalue())
""",
    restores=None,
)

add(
    "text_in_memory_through_print_and_csv",
    """
import csv, io, time
text = io.StringIO()
rows = csv.writer(text)
total = 0
def keep(*row):
    rows.writerow(row)
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        total += i
        keep(epoch, i)
        print(total, file=text)
    print(total)
+    print("PROBE", total, repr(text.getvalue()))
""",
    restores=None,
)

add(
    "learning_rate_of_groups",
    """
import time
import torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    for group in opt.param_groups:
        time.sleep(0.05)
        group["lr"] = 0.1 * 0.5 ** epoch
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
    print(epoch, net.weight.sum().item())
+    print("PROBE", opt.param_groups[0]["lr"], len(opt.state))
""",
    restores=True,
)

add(
    "stores_what_it_iterates_over",
    """
import time
items, other = [2, 3], [5]
box = {"k": other}
class Holder: pass
holder = Holder()
for epoch in range(4):
    for item in list(items):
        time.sleep(0.01)
        box["k"] = items if epoch % 2 else other
        holder.rows = [items, other]
    print(epoch, item)
+    print("PROBE", box["k"] is items, box["k"] is other, holder.rows[0] is items, holder.rows[1] is other, box)
    items.append(epoch)
""",
    exact=True,
)

for name, element in (
    ("frozen_dataclasses", "@dataclasses.dataclass(frozen=True)\nclass Item:\n    key: int"),
    (
        "objects_with_a_hash",
        "class Item:\n    def __init__(self, key): self.key = key\n    def __hash__(self): return self.key\n"
        "    def __eq__(self, other): return self.key == other.key",
    ),
):
    add(
        f"set_of_{name}",
        f"""
import dataclasses, time
{element}
queue, weight = set(), 1.0
for epoch in range(5):
    for step in range(6):
        time.sleep(0.005)
        queue.add(Item(epoch * 97 + step * 31))
    print(epoch)
+    print("PROBE", [item.key for item in queue], weight)
    weight = weight * 0.9 + queue.pop().key
print(weight)
""",
        restores=None if "objects" in name else True,
        exact=True,
    )  # an `__eq__` that takes only its like may stand against it

add(
    "frozensets",
    """
import time
class Vocabulary: pass
words = Vocabulary()
words.known, history = frozenset(), []
for epoch in range(4):
    for step in range(6):
        time.sleep(0.005)
        words.known = words.known | {1000 - step, 8 * (step + epoch)}
    history.append(frozenset((epoch, word) for word in words.known))
    print(epoch)
+    print("PROBE", list(words.known), [list(one) for one in history])
""",
    exact=True,
)

add(
    "set_of_objects_by_address",
    """
import time
class Item:
    def __init__(self, key): self.key = key
pool = set()
for epoch in range(3):
    for step in range(6):
        time.sleep(0.005)
        pool.add(Item(step + epoch))
    print(epoch)
+    print("PROBE", epoch, sorted(item.key for item in pool))
""",
    unsure=True,
)

add(
    "set_of_tuples_with_none",
    """
import time
pairs = set()
for epoch in range(3):
    for step in range(5):
        time.sleep(0.005)
        pairs.add((None, step))
        pairs.add(("a", step))
    print(epoch)
+    print("PROBE", len(pairs))
""",
    restores=None,
)

add(
    "attribute_that_a_number_cannot_have",
    """
import time
class Node:
    def __init__(self, v): self.v = v
    def bump(self, k):
        self.v += k
        return self
node = Node(2)
for epoch in range(3):
    for step in range(3):
        time.sleep(0.01)
        node = Node(epoch)
        node.bump(step)
    print(epoch)
+    print("PROBE", epoch)
""",
    restores=None,
    exact=True,
)
