"""Randomness, hash order, time, the script's view of itself, and probes of every shape."""

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

add(
    "random_module",
    """
import time, random
random.seed(3)
for epoch in range(3):
    s = 0.0
    for i in range(3):
        time.sleep(0.01)
        s += random.random()
    print(round(s, 6), round(random.gauss(0, 1), 6))
+    print("PROBE", s, random.getstate()[1][:3])
print(random.random())
""",
)

add(
    "random_unseeded",
    """
import time, random
for epoch in range(3):
    s = 0.0
    for i in range(3):
        time.sleep(0.01)
        s += random.random()
    print("TRUTH", s)
+    print("PROBE", s)
x = random.random()
print("TRUTH", x)
+print("PROBE", x)
""",
)

add(
    "random_instance",
    """
import time, random
rng = random.Random(5)
for epoch in range(3):
    s = 0.0
    for i in range(3):
        time.sleep(0.01)
        s += rng.random()
    print(s)
+    print("PROBE", s)
print(rng.random())
+print("PROBE", rng.getstate()[1][:2])
""",
)

add(
    "numpy_legacy",
    """
import time
import numpy as np
np.random.seed(0)
for epoch in range(3):
    w = np.zeros(3)
    for i in range(3):
        time.sleep(0.01)
        w += np.random.randn(3)
    print(w.sum(), np.random.rand())
+    print("PROBE", w.tolist())
print(np.random.permutation(5))
""",
)

add(
    "numpy_unseeded",
    """
import time
import numpy as np
for epoch in range(2):
    for i in range(3):
        time.sleep(0.01)
        x = np.random.rand()
    print("TRUTH", x)
+    print("PROBE", x)
y = np.random.rand()
print("TRUTH", y)
+print("PROBE", y)
""",
)

add(
    "numpy_generator",
    """
import time
import numpy as np
rng = np.random.default_rng(7)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        x = rng.normal()
    print(x, rng.integers(10))
+    print("PROBE", x)
print(rng.random())
+print("PROBE", rng.bit_generator.state["state"]["state"])
""",
)

add(
    "numpy_generator_unseeded",
    """
import time
import numpy as np
rng = np.random.default_rng()
for epoch in range(2):
    for i in range(3):
        time.sleep(0.01)
        x = rng.normal()
    print("TRUTH", x)
+    print("PROBE", x)
""",
)

add(
    "random_instance_unseeded",
    """
import time, random
rng = random.Random()
for epoch in range(2):
    first = rng.random()
    for i in range(3):
        time.sleep(0.01)
        x = rng.random()
    print("TRUTH", x)
+    print("PROBE", x)
""",
)

add(
    "numpy_generator_unseeded_drawn_again",
    """
import time
import numpy as np
rng = np.random.default_rng()
for epoch in range(2):
    for i in range(3):
        time.sleep(0.01)
        x = rng.normal()
+        print("PROBE", round(x) == x)
    drawn = rng.normal() != x
    print("at the end", drawn)
""",
    restores=False,
)

add(
    "generator_in_object",
    """
import time
import numpy as np
class Env:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.pos = 0.0
    def step(self):
        time.sleep(0.005)
        self.pos += self.rng.randn()
        return self.pos
env = Env(1)
for epoch in range(3):
    for i in range(3):
        p = env.step()
    print(p)
+    print("PROBE", env.pos, p)
print(env.step())
""",
)

add(
    "generator_only_passed",
    """
import time
import numpy as np
def sample(rng, n):
    time.sleep(0.01)
    return rng.choice(100, n)
rng = np.random.default_rng(0)
for epoch in range(3):
    for i in range(2):
        got = sample(rng, 3)
    print(got, rng.random())
+    print("PROBE", got.tolist())
""",
)

add(
    "random_only_in_skipped",
    """
import time, random
random.seed(0)
hits = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        if random.random() < 0.5:
            hits += 1
    print(hits)
+    print("PROBE", hits)
+print("PROBE", random.random())
""",
)

add(
    "probe_draws_random",
    """
import time, random
random.seed(0)
for epoch in range(3):
    s = 0
    for i in range(3):
        time.sleep(0.01)
        s += random.random()
    print(s)
+    print("PROBE", random.random())
""",
    flagged=True,
)

add(
    "hash_order",
    """
import time
words = "the quick brown fox jumps over the lazy dog again and again".split()
vocab = list(set(words))
out = []
for epoch in range(3):
    for i, w in enumerate(vocab[:4]):
        time.sleep(0.01)
        out.append(w)
    print("TRUTH", out[-1], vocab.index("fox"))
+    print("PROBE", out[-1], vocab.index("fox"))
""",
    hash_seed=None,
)

add(
    "set_restored_iterates_as_recorded",
    """
import time
bag = set()
for epoch in range(3):
    for i in range(6):
        time.sleep(0.005)
        bag.add(f"w{(i * 7 + epoch * 3) % 23}")
    print(list(bag))
+    print("PROBE", list(bag))
""",
    hash_seed="3",
)

add(
    "set_of_ints_order",
    """
import time
bag = set()
for epoch in range(3):
    for i in range(6):
        time.sleep(0.005)
        bag.add((i * 1009 + epoch * 31) % 97 * 8)
        if i == 4:
            bag.discard(epoch * 31 % 97 * 8)
    first = next(iter(bag))
    print(first)
+    print("PROBE", list(bag))
    bag.pop()
""",
    hash_seed="3",
)

add(
    "vocabulary_in_a_set",
    """
import time
class Seen:
    def __init__(self):
        self.words, self.pairs = set(), set()
seen = Seen()
for epoch in range(3):
    for i in range(400):
        time.sleep(0.0001)
        seen.words.add(f"w{(i * 7 + epoch * 3) % 523}")
        seen.pairs.add((i % 19, epoch))
    seen.words.discard(f"w{epoch}")
    print(list(seen.words)[::50], list(seen.pairs)[::9])
+    print("PROBE", list(seen.words)[:20], list(seen.pairs)[:20])
""",
    hash_seed="3",
)

add(
    "dict_order_after_delete",
    """
import time
d = {"a": 1, "b": 2, "c": 3}
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        k = "abc"[(i + epoch) % 3]
        d[k] = d.pop(k, 0) + 1
    print(list(d))
+    print("PROBE", list(d.items()))
""",
)

add(
    "time_in_prints",
    """
import time
start = time.time()
for epoch in range(2):
    for i in range(3):
        time.sleep(0.01)
        x = i * epoch
    print("TRUTH", x)
+    print("PROBE", x)
    print("took", time.time() - start)
""",
)

add(
    "time_kept_in_state",
    """
import time
stamps = []
for epoch in range(2):
    for i in range(3):
        time.sleep(0.01)
        stamps.append(time.time())
    print("TRUTH", stamps[-1])
+    print("PROBE", stamps[-1])
""",
)

add(
    "argv_and_file",
    """
import time, sys, os
n = int(sys.argv[1])
name = os.path.basename(__file__)
for epoch in range(n):
    for i in range(2):
        time.sleep(0.01)
        x = epoch * i
    print(name, sys.argv, x, __name__)
+    print("PROBE", name, sys.argv, x, __name__)
""",
    arguments=["3", "--lr", "0.1"],
)

add(
    "argparse_script",
    """
import time, argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--out")
args = parser.parse_args()
for epoch in range(args.epochs):
    for i in range(2):
        time.sleep(0.01)
        args.last = i + epoch
    print(args)
+    print("PROBE", args)
""",
    arguments=["--epochs", "3"],
)

add(
    "inspect_getsource",
    """
import time, inspect
def work(i):
    time.sleep(0.01)
    return i * 2
for epoch in range(2):
    for i in range(2):
        x = work(i)
    print(x)
+    print("PROBE", x)
print(inspect.getsource(work))
print(len(open(__file__).read()) > 10)
""",
)

add(
    "globals_collected",
    """
import time
lr = 0.1
batch = 4
config = {k: v for k, v in globals().items() if not k.startswith("_") and isinstance(v, (int, float, str))}
print(config)
print(sorted(k for k in globals() if not k.startswith("_")))
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        x = lr * i
    print(x)
+    print("PROBE", x, config)
""",
)

add(
    "dunder_globals",
    """
import time
print(sorted(globals()), __doc__, __spec__ is None, __package__)
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        x = i
    print(x)
+    print("PROBE", x)
""",
    xfail="the name of florc's import is one of the globals",
    restores=None,
)

add(
    "stack_depth_and_frames",
    """
import time, sys, traceback, inspect
print(len(inspect.stack()), sys._getframe().f_lineno)
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        x = sys._getframe().f_lineno
    print(x)
+    print("PROBE", i)
""",
    restores=None,
    xfail="florc's own frames lie below the script's",
)

add(
    "traceback_text",
    """
import time, traceback
def fail(i):
    time.sleep(0.01)
    raise ValueError(i)
for epoch in range(2):
    for i in range(2):
        try:
            fail(i)
        except ValueError:
            text = traceback.format_exc()
    print(text)
+    print("PROBE", len(text.splitlines()))
""",
)

add(
    "stderr_and_logging",
    """
import time, sys, logging
logging.basicConfig(level=logging.INFO)
log = logging.getLogger("train")
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        n += 1
        log.info("step %d", n)
    print("epoch", epoch, file=sys.stderr)
    print(n)
+    print("PROBE", n)
""",
)

add(
    "probe_by_logging",
    """
import time, sys, logging
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
log = logging.getLogger("train")
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        n += 1
    print(n)
+    log.info("PROBE %d", n)
""",
)

add(
    "probe_by_sys_stdout",
    """
import time, sys
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        n += 1
    print(n)
+    sys.stdout.write(f"PROBE {n}\\n")
+    print("PROBE", "second", flush=True)
""",
)

add(
    "print_without_newline",
    """
import time
n = 0
for epoch in range(3):
    print("epoch", epoch, end=" ")
    for i in range(3):
        time.sleep(0.01)
        n += 1
        print(".", end="")
    print()
+    print("PROBE", n)
""",
)

add(
    "probe_between_parts_of_a_line",
    """
import time
n = 0
for epoch in range(3):
    print("epoch", epoch, end="\\n")
    for i in range(3):
        time.sleep(0.01)
        n += 1
+    print("PROBE", n)
    print("a", end="")
+    print("PROBE", epoch) if False else None
    print("b")
""",
)

add(
    "prints_inside_skipped",
    """
import time
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        n += 1
        print("step", n)
    print("epoch", epoch)
+    print("PROBE", n)
""",
)

add(
    "subprocess_output",
    """
import time, subprocess, sys, os
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        code = subprocess.call(["sh", "-c", f"echo sub {i}; exit {epoch}"])
    print(code, flush=True)
+    print("PROBE", code)
os.write(1, b"raw\\n")
""",
)

add(
    "atexit_output",
    """
import time, atexit
n = 0
atexit.register(lambda: print("bye", n))
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        n += 1
    print(n)
+    print("PROBE", n)
""",
)

add(
    "probe_multi_line",
    """
import time
w = {"a": 0}
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w["a"] += i
    print(w)
+    print(
+        "PROBE",
+        epoch,
+        w["a"],
+    )
+    for key, value in w.items():
+        print("PROBE", key,
+              value)
""",
)

add(
    "probe_if_guarded",
    """
import time
w = 0
for epoch in range(4):
    for i in range(3):
        time.sleep(0.01)
        w += i
    print(w)
+    if epoch % 2 == 0:
+        print("PROBE even", w)
+    elif epoch == 3:
+        print("PROBE three", w)
+    else:
+        pass
""",
)

add(
    "probe_with_helpers_and_import",
    """
import time
w = []
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w.append(i)
    print(len(w))
+    import statistics
+    mean = statistics.fmean(w)
+    spread = max(w) - min(w)
+    print("PROBE", mean, spread)
""",
)

add(
    "probe_with_function",
    """
import time
w = []
+def describe(values):
+    total = sum(values)
+    return f"{total} of {len(values)}"
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w.append(i)
    print(len(w))
+    print("PROBE", describe(w))
""",
)

add(
    "probe_import_at_top",
    """
import time
+import math
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
    print(w)
+    print("PROBE", math.sqrt(w))
""",
)

add(
    "two_probes",
    """
import time
w = 0
for epoch in range(3):
+    print("PROBE before", w)
    for i in range(3):
        time.sleep(0.01)
        w += i
+    print("PROBE middle", w)
    print(w)
+    print("PROBE after", w)
+print("PROBE end", w)
""",
)

add(
    "probe_inner_and_outer",
    """
import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
+        print("PROBE inner", w)
    print(w)
+    print("PROBE outer", w)
""",
    restores=False,
)

add(
    "probe_in_one_of_two_inner_loops",
    """
import time
w, acc = 0, 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
    for j in range(2):
        time.sleep(0.01)
        acc += w * j
+        print("PROBE", w, acc)
    print(w, acc)
""",
)

add(
    "probe_first_statement_of_function",
    """
import time
def evaluate(w):
+    print("PROBE", w)
    return w * 2
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
    print(evaluate(w))
""",
)

add(
    "probe_before_docstring_function",
    """
import time
def evaluate(w):
    '''Doc.'''
+    a = w + 1
+    print("PROBE", a)
    return w * 2
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
    print(evaluate(w))
""",
)

add(
    "probe_in_else_and_except",
    """
import time
w = 0
for epoch in range(4):
    for i in range(3):
        time.sleep(0.01)
        w += i
    try:
        print(6 // (w % 4))
    except ZeroDivisionError:
        print("zero")
+        print("PROBE zero", w)
    else:
        print("fine")
+        print("PROBE fine", w)
    finally:
+        print("PROBE finally", w)
        w += 1
""",
)

add(
    "probe_with_walrus_and_fstring",
    """
import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
    print(w)
+    print(f"PROBE {(half := w / 2)!r:>6} {half=}")
""",
)

add(
    "probe_assert",
    """
import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
    print(w)
+    assert w < 100, "PROBE"
+    print("PROBE", w)
""",
)

add(
    "probe_raises",
    """
import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
    print(w)
+    print("PROBE", undefined_name)
""",
    flagged=True,
)

add(
    "probe_same_name_as_loop_local",
    """
import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        tmp = i * 2
        w += tmp
    print(w)
+    tmp = w + 100
+    print("PROBE", tmp)
""",
    restores=None,
)

add(
    "probe_appends_to_new_list",
    """
import time
+history = []
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
    print(w)
+    history.append(w)
+print("PROBE", history)
""",
)

add(
    "probe_counts_in_inner_loop",
    """
import time
+calls = 0
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
+        calls += 1
    print(w)
+print("PROBE", calls)
""",
    restores=None,
)

add(
    "probe_removed_print",
    """
import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
    print(w)
+    print("PROBE", w, sep="|")
""",
)

add(
    "helper_module",
    """
import time
import helper
for epoch in range(3):
    for i in range(3):
        helper.step(i)
    print(helper.total)
+    print("PROBE", helper.total, helper.log)
=== helper.py
import time
total = 0
log = []
def step(i):
    global total
    time.sleep(0.01)
    total += i
    log.append(total)
""",
    restores=None,
)

add(
    "helper_module_from_import",
    """
import time
from helper import Trainer, config
t = Trainer()
for epoch in range(3):
    t.run(3)
    print(t.steps, config)
+    print("PROBE", t.steps, config)
=== helper.py
import time
config = {"lr": 1.0}
class Trainer:
    def __init__(self):
        self.steps = 0
    def run(self, n):
        for i in range(n):
            time.sleep(0.01)
            self.steps += 1
            config["lr"] *= 0.5
""",
)

add(
    "probe_in_helper_module",
    """
import helper
w = 0
for epoch in range(3):
    w = helper.train(w)
    print(w)
=== helper.py
import time
def train(w):
    for i in range(3):
        time.sleep(0.01)
        w += i
+    print("PROBE", w)
    return w
""",
    restores=None,
)

add(
    "helper_package",
    """
from pkg.train import fit
from pkg import state
for epoch in range(3):
    for i in range(3):
        fit(i)
    print(state.best)
+    print("PROBE", state.best)
=== pkg/__init__.py
=== pkg/state.py
best = -1
=== pkg/train.py
import time
from . import state
def fit(i):
    time.sleep(0.01)
    state.best = max(state.best, i * 3)
""",
    restores=None,
)

add(
    "helper_hidden_state",
    """
import time
from helper import update
x = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        x = update(i)
    print(x)
+    print("PROBE", x, update.__module__)
y = update(10)
print(y)
+print("PROBE", y)
=== helper.py
_seen = []
def update(i):
    _seen.append(i)
    return sum(_seen)
""",
    restores=None,
)

add(
    "helper_singleton_object",
    """
import time
from helper import meter
import helper
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        helper.tick()
    print(meter.n)
+    print("PROBE", meter.n)
=== helper.py
class Meter:
    def __init__(self): self.n = 0
    def hit(self): self.n += 1
meter = Meter()
def tick():
    meter.hit()
""",
    restores=None,
)

add(
    "helper_class_hidden_state",
    """
import time
from helper import Model
m = Model()
r = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        r = m.compute(i)
    print(r)
print(m.compute(1))
+print("PROBE", m.cache, Model.calls)
=== helper.py
class Model:
    calls = 0
    def __init__(self): self.cache = {}
    def compute(self, i):
        Model.calls += 1
        self.cache[i] = self.cache.get(i, 0) + 1
        return self.cache[i]
""",
    restores=None,
)

add(
    "files_written_and_read",
    """
import time, json, os
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        with open("state.json", "w") as f:
            json.dump({"epoch": epoch, "i": i}, f)
    print(open("state.json").read())
+    print("PROBE", json.load(open("state.json")))
""",
    restores=False,
)

add(
    "file_handle_open_across_loop",
    """
import time
log = open("log.txt", "w")
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        log.write(f"{epoch} {i}\\n")
    print(log.tell())
+    print("PROBE", log.tell())
log.close()
print(len(open("log.txt").read()))
""",
    flagged=True,
)

add(
    "unicode_and_crlf_output",
    """
import time
w = ""
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        w += "\\u00e9\\u4e2d"
    print(w, "\\r x")
+    print("PROBE", w)
""",
)

add(
    "bytes_to_stdout_buffer",
    """
import time, sys
w = 0
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        w += 1
    sys.stdout.buffer.write(b"raw %d\\n" % w)
    sys.stdout.flush()
+    print("PROBE", w)
""",
)

add(
    "redirected_stdout",
    """
import time, io, contextlib
w = 0
for epoch in range(2):
    buf = io.StringIO()
    with contextlib.redirect_stdout(buf):
        for i in range(2):
            time.sleep(0.01)
            w += 1
            print("inside", w)
    print(buf.getvalue().strip())
+    print("PROBE", w)
""",
    restores=False,
)

add(
    "signal_and_warnings",
    """
import time, warnings
w = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        warnings.warn("careful")
        w += 1
    print(w)
+    print("PROBE", w)
""",
)

add(
    "multiprocessing_fork",
    """
import time, multiprocessing as mp
def job(x):
    return x * x
if __name__ == "__main__":
    ctx = mp.get_context("fork")
    total = 0
    with ctx.Pool(2) as pool:
        for epoch in range(2):
            for i in range(2):
                total += sum(pool.map(job, range(i + 2)))
            print(total)
+            print("PROBE", total)
""",
    restores=None,
)

add(
    "multiprocessing_spawn",
    """
import time, multiprocessing as mp
def job(x):
    return x * x
if __name__ == "__main__":
    ctx = mp.get_context("spawn")
    total = 0
    with ctx.Pool(1) as pool:
        for epoch in range(2):
            for i in range(2):
                total += sum(pool.map(job, range(i + 2)))
            print(total)
+            print("PROBE", total)
""",
    restores=None,
)

add(
    "os_fork",
    """
import time, os
w = 0
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        w += 1
    pid = os.fork()
    if pid == 0:
        os._exit(w)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
+    print("PROBE", w)
""",
)

add(
    "future_annotations_and_docstring",
    '''
"""Doc of the script."""
from __future__ import annotations
import time
w: int = 0
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        w += 1
    print(w, __doc__, __annotations__)
+    print("PROBE", w)
''',
)

add(
    "tabs_and_semicolons",
    """
import time; w = 0
for epoch in range(3):
\tfor i in range(2): time.sleep(0.01); w += i
\tprint(w); x = w
+\tprint("PROBE", w); print("PROBE", x)
""",
)

add(
    "one_line_loops",
    """
import time
w = 0
for epoch in range(3):
    for i in range(2): w += i; time.sleep(0.02)
    print(w)
+    print("PROBE", w)
for i in range(3): w += 1; time.sleep(0.01)
print(w)
+print("PROBE", w)
""",
)

add(
    "multi_line_strings_in_loop",
    '''
import time
w = ""
for epoch in range(2):
    for i in range(2):
        time.sleep(0.01)
        w = f"""a
  {epoch}
    b {i}"""
    print(w)
+    print("PROBE", repr(w))
''',
)
