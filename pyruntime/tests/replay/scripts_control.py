"""Ways through and out of loops."""

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

add(
    "inline",
    """
import time
total = 0
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        total += i * epoch
    print("epoch", epoch, total)
+    print("PROBE", epoch, total)
""",
)

add(
    "last_inner_value",
    """
import time
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        loss = 1 / (1 + epoch * 4 + i)
    print("epoch", epoch)
+    print("PROBE", loss, i)
""",
    restores=None,
)

add(
    "last_inner_value_after_all",
    """
import time
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        loss = 1 / (1 + epoch * 4 + i)
    print("epoch", epoch)
+print("PROBE", loss, i, epoch)
""",
    restores=None,
)

add(
    "zero_iterations_unbound",
    """
import time
for epoch in range(3):
    for i in range(epoch % 2):
        time.sleep(0.02)
        last = epoch
    print(epoch)
    try:
        print(last)
    except NameError:
        print("unbound")
+    try:
+        print("PROBE", last, i)
+    except NameError as error:
+        print("PROBE", error)
""",
    restores=None,
)

add(
    "zero_iterations_keep_older",
    """
import time
x = "start"
for epoch in range(4):
    for i in range(2 if epoch % 2 else 0):
        time.sleep(0.02)
        x = (epoch, i)
    print(epoch, x)
+    print("PROBE", x)
""",
)

add(
    "break_inner",
    """
import time
for epoch in range(4):
    for i in range(10):
        time.sleep(0.01)
        if i > epoch:
            break
    print(epoch, i)
+    print("PROBE", epoch, i)
""",
)

add(
    "break_else",
    """
import time
for epoch in range(4):
    for i in range(3):
        time.sleep(0.01)
        if i == epoch:
            how = "broke"
            break
    else:
        how = "through"
    print(epoch, how)
+    print("PROBE", how)
""",
)

add(
    "continue_outer",
    """
import time
seen = []
for epoch in range(5):
    if epoch == 2:
        continue
    for i in range(3):
        time.sleep(0.01)
        if i == 1:
            continue
        seen.append((epoch, i))
    if epoch == 3:
        continue
    print(len(seen))
+print("PROBE", seen)
""",
)

add(
    "break_outer",
    """
import time
best = 0
for epoch in range(10):
    for i in range(3):
        time.sleep(0.01)
        best = max(best, epoch * i)
    if best >= 4:
        print("early")
        break
else:
    print("never")
+print("PROBE", epoch, best)
""",
)

add(
    "outer_else",
    """
import time
n = 0
for epoch in range(2):
    for i in range(3):
        time.sleep(0.01)
        n += 1
else:
    n += 100
    print("else", n)
+print("PROBE", n)
""",
)

add(
    "inner_try_finally",
    """
import time
log = []
for epoch in range(3):
    try:
        for i in range(4):
            time.sleep(0.01)
            if i == epoch + 1:
                raise ValueError(i)
            log.append(i)
    except ValueError as error:
        log.append(str(error))
    finally:
        log.append("f")
    print(len(log))
+    print("PROBE", log)
""",
    restores=None,
)

add(
    "try_inside_loop",
    """
import time
bad = 0
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        try:
            x = 1 / (i - epoch)
        except ZeroDivisionError:
            bad += 1
            continue
        finally:
            seen = (epoch, i)
    print(epoch, bad)
+    print("PROBE", bad, x, seen)
""",
    restores=None,
)

add(
    "exception_name_unbound",
    """
import time
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        try:
            {}["k"]
        except KeyError as error:
            text = repr(error)
    print(epoch, text)
+    print("PROBE", "error" in dir(), text)
""",
    restores=None,
)

add(
    "exception_object_kept",
    """
import time
kept = None
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        try:
            raise ValueError(epoch, i)
        except ValueError as error:
            kept = error
    print(epoch)
+    print("PROBE", kept.args)
""",
    restores=None,
)

add(
    "with_around_inner",
    """
import time, contextlib
events = []
@contextlib.contextmanager
def stage(name):
    events.append("in " + name)
    yield name.upper()
    events.append("out " + name)
for epoch in range(3):
    with stage(f"e{epoch}") as s:
        for i in range(3):
            time.sleep(0.01)
            events.append(i)
    print(epoch, len(events))
+    print("PROBE", s, events[-3:])
""",
    restores=None,
)

add(
    "with_inside_inner",
    """
import time
class Meter:
    def __init__(self): self.n = 0
    def __enter__(self):
        self.n += 1
        return self
    def __exit__(self, *_): self.n += 10
meter = Meter()
for epoch in range(3):
    for i in range(3):
        with meter as m:
            time.sleep(0.01)
    print(epoch, meter.n)
+    print("PROBE", meter.n)
""",
)

add(
    "while_condition",
    """
import time
n = 27
steps = 0
epoch = 0
while n != 1 and epoch < 6:
    epoch += 1
    for _ in range(3):
        time.sleep(0.01)
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    print(epoch, n)
+    print("PROBE", n, steps)
""",
)

add(
    "while_walrus",
    """
import time
data = list(range(12))
total = 0
while (chunk := data[:4]):
    data = data[4:]
    for x in chunk:
        time.sleep(0.01)
        total += x
    print(total)
+    print("PROBE", chunk, total, data)
""",
)

add(
    "while_inner_walrus",
    """
import time
queue = []
for epoch in range(3):
    queue.extend(range(epoch + 3))
    while (item := queue.pop() if queue else None) is not None:
        time.sleep(0.01)
        last = item
    print(epoch, item, last)
+    print("PROBE", item, last, queue)
""",
)

add(
    "while_true_break",
    """
import time
step = 0
while True:
    for _ in range(3):
        time.sleep(0.01)
        step += 1
    print(step)
    if step >= 9:
        break
+print("PROBE", step)
""",
)

add(
    "flat_loop_then_probe",
    """
import time
acc = 1
for i in range(6):
    time.sleep(0.01)
    acc = acc * 3 % 17
print(acc)
+print("PROBE", acc, i)
""",
    restores=None,
)

add(
    "three_levels",
    """
import time
grid = []
for fold in range(2):
    row = []
    for epoch in range(3):
        s = 0
        for i in range(3):
            time.sleep(0.01)
            s += fold * epoch + i
        row.append(s)
+        print("PROBE", fold, epoch, s)
    grid.append(row)
    print(fold, row)
+print("PROBE", grid)
""",
    restores=None,
)

add(
    "kfold_function",
    """
import time
def train(fold):
    w = fold
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.01)
            w = w * 2 + i
        print(fold, epoch, w)
+        print("PROBE", fold, epoch, w)
    return w
scores = [train(fold) for fold in range(2)]
print(scores)
+print("PROBE", scores)
""",
)

add(
    "same_function_two_places",
    """
import time
def run(n, acc):
    for i in range(n):
        time.sleep(0.01)
        acc.append(i)
    return sum(acc)
a, b = [], []
for epoch in range(3):
    x = run(2, a)
    y = run(3, b)
    print(epoch, x, y)
+    print("PROBE", x, y, a, b)
""",
)

add(
    "two_loops_in_sequence",
    """
import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        w += i
    loss = 0
    for j in range(2):
        time.sleep(0.01)
        loss += w * j
    print(epoch, loss)
+    print("PROBE", w, loss, i, j)
""",
    restores=None,
)

add(
    "recursion",
    """
import time
def walk(depth, out):
    if depth == 0:
        return
    for i in range(2):
        time.sleep(0.01)
        out.append(depth * 10 + i)
    walk(depth - 1, out)
out = []
for epoch in range(2):
    walk(3, out)
    print(len(out))
+    print("PROBE", out)
""",
)

add(
    "recursive_inside_loop",
    """
import time
def count(n):
    total = 0
    for i in range(n):
        time.sleep(0.005)
        total += 1 + count(i)
    return total
for epoch in range(3):
    c = count(epoch + 1)
    print(c)
+    print("PROBE", c)
""",
)

add(
    "generator_function_loop",
    """
import time
def batches(n):
    for i in range(n):
        time.sleep(0.01)
        yield i
total = 0
for epoch in range(3):
    for b in batches(3):
        total += b
    print(total)
+    print("PROBE", total, b)
""",
    restores=None,
)

add(
    "generator_made_outside",
    """
import time
def numbers():
    n = 0
    while True:
        n += 1
        yield n
source = numbers()
for epoch in range(3):
    s = 0
    for _ in range(3):
        time.sleep(0.01)
        s += next(source)
    print(s)
+    print("PROBE", s)
""",
    restores=None,
)

add(
    "iterator_made_outside",
    """
import time
it = iter(range(100))
for epoch in range(3):
    for _ in range(3):
        time.sleep(0.01)
        x = next(it)
    print(x)
+    print("PROBE", x)
""",
    restores=None,
)

add(
    "probe_advances_an_iterator",
    """
import time
it = iter(range(100))
for epoch in range(3):
    for _ in range(3):
        time.sleep(0.01)
        x = next(it)
    print(x)
+    print("PROBE", x, next(it))
""",
    flagged=True,
)

add(
    "iterator_made_outside_used_after",
    """
import time
it = iter(list("abcdefghijkl"))
for epoch in range(3):
    for _ in range(2):
        time.sleep(0.01)
        x = next(it)
    print(x)
print(next(it))
+print("PROBE", x)
""",
    restores=None,
)

for kind in ("reader", "DictReader"):
    add(
        f"csv_{kind}_made_outside",
        f"""
import csv, time
rows = csv.{kind}(["a", *map(str, range(30))])
next(rows)
for epoch in range(3):
    for _ in range(3):
        time.sleep(0.01)
        next(rows)
    row = next(rows)
    print(epoch)
+    print("PROBE", row, rows.line_num)
""",
        restores=False,
    )

add(
    "zip_made_outside",
    """
import time
pairs = zip(range(9), "abcdefghi")
out = []
for epoch in range(3):
    for n, (a, b) in enumerate(pairs):
        time.sleep(0.01)
        out.append((n, a, b))
        if n == 2:
            break
    print(len(out))
+    print("PROBE", out)
""",
    restores=None,
)

add(
    "itertools_count",
    """
import time, itertools
counter = itertools.count()
for epoch in range(3):
    for _ in range(3):
        time.sleep(0.01)
        n = next(counter)
    print(n)
+    print("PROBE", n)
""",
    restores=None,
)

add(
    "itertools_cycle_in_for",
    """
import time, itertools
loader = itertools.cycle([10, 20, 30])
s = 0
for epoch in range(3):
    for _, x in zip(range(4), loader):
        time.sleep(0.01)
        s += x
    print(s)
+    print("PROBE", s, x)
""",
    restores=None,
)

add(
    "enumerate_rebound",
    """
import time
data = [5, 6, 7]
for epoch in range(3):
    it = enumerate(data)
    for i, x in it:
        time.sleep(0.01)
        y = i * x + epoch
    print(y)
+    print("PROBE", i, x, y)
""",
    restores=None,
)

add(
    "return_from_two_loops",
    """
import time
def main():
    n = 0
    for epoch in range(5):
        for i in range(4):
            time.sleep(0.01)
            n += 1
            if n == 10:
                print("stop", n)
                return n
        print(epoch, n)
+        print("PROBE", epoch, n)
result = main()
+print("PROBE", result)
""",
    restores=None,
)

add(
    "exception_ends_script",
    """
import time
n = 0
for epoch in range(5):
    for i in range(3):
        time.sleep(0.01)
        n += 1
    print(epoch, n)
+    print("PROBE", n)
    if epoch == 3:
        raise RuntimeError("boom")
""",
)

add(
    "exception_inside_inner",
    """
import time
n = 0
for epoch in range(5):
    for i in range(3):
        time.sleep(0.01)
        n += 1
        if n == 8:
            raise RuntimeError("boom")
    print(epoch, n)
+    print("PROBE", n)
""",
)

add(
    "sys_exit_at_end",
    """
import time, sys
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        n += 1
    print(n)
+    print("PROBE", n)
sys.exit(3)
""",
)

add(
    "sys_exit_inside_loop",
    """
import time, sys
n = 0
for epoch in range(5):
    for i in range(3):
        time.sleep(0.01)
        n += 1
        if n == 10:
            sys.exit("enough")
    print(n)
+    print("PROBE", n)
""",
)

add(
    "main_guard",
    """
import time
def main():
    total = 0
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.01)
            total += i
        print(total)
+        print("PROBE", total)
if __name__ == "__main__":
    main()
""",
)

add(
    "retry_after_exception",
    """
import time
attempts = []
def train(size):
    for i in range(3):
        time.sleep(0.01)
        attempts.append((size, i))
        if size > 2 and i == 1:
            raise MemoryError(size)
    return size * 10
for epoch in range(2):
    size = 4
    while True:
        try:
            got = train(size)
            break
        except MemoryError:
            size //= 2
    print(epoch, size, got)
+    print("PROBE", size, got, attempts)
""",
    restores=None,
)

add(
    "match_statement",
    """
import time
out = []
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        match (i, epoch):
            case (0, e):
                out.append(("zero", e))
            case (x, y) if x == y:
                last = x
            case _:
                pass
    print(epoch, len(out))
+    print("PROBE", out, "last" in dir() and last)
""",
    restores=None,
)

add(
    "nested_break_in_function",
    """
import time
def find(rows, wanted):
    where = None
    for r, row in enumerate(rows):
        for c, x in enumerate(row):
            time.sleep(0.005)
            if x == wanted:
                where = r, c
                break
        if where:
            break
    return where
for epoch in range(3):
    spot = find([[1, 2], [3, 4], [5, 6]], 2 * epoch + 2)
    print(spot)
+    print("PROBE", spot)
""",
)

add(
    "async_loop",
    """
import asyncio
async def main():
    n = 0
    for epoch in range(3):
        for i in range(3):
            await asyncio.sleep(0.01)
            n += 1
        print(n)
+        print("PROBE", n)
asyncio.run(main())
""",
    restores=None,
)

add(
    "thread_in_loop",
    """
import time, threading
total = []
def work(k):
    time.sleep(0.005)
    total.append(k)
for epoch in range(3):
    for i in range(2):
        t = threading.Thread(target=work, args=(i,))
        t.start()
        t.join()
    print(sum(total))
+    print("PROBE", total)
""",
    restores=None,
)

add(
    "for_target_attribute",
    """
import time
class Box: pass
box = Box()
names = {}
for epoch in range(3):
    for box.i in range(3):
        time.sleep(0.01)
    for names["k"] in range(epoch + 1):
        time.sleep(0.01)
    print(box.i, names)
+    print("PROBE", box.i, names)
""",
)

add(
    "starred_target",
    """
import time
rows = [(1, 2, 3), (4, 5, 6, 7)]
for epoch in range(2):
    for first, *rest in rows:
        time.sleep(0.01)
        rest.append(epoch)
    print(first, rest)
+    print("PROBE", first, rest)
""",
)

add(
    "loop_over_own_list",
    """
import time
todo = [1]
for epoch in range(3):
    todo.append(epoch)
    for x in todo:
        time.sleep(0.005)
        if len(todo) < 5 + epoch:
            todo.append(x + 1)
    print(todo)
+    print("PROBE", todo)
""",
)

add(
    "conditional_loop",
    """
import time
n = 0
for epoch in range(4):
    if epoch % 2 == 0:
        for i in range(3):
            time.sleep(0.01)
            n += 1
    else:
        for j in range(2):
            time.sleep(0.01)
            n += 10
    print(n)
+    print("PROBE", n)
""",
)

add(
    "del_name_in_loop",
    """
import time
tmp = "outer"
for epoch in range(3):
    tmp = epoch
    for i in range(2):
        time.sleep(0.01)
        x = tmp
    del tmp
    print(x)
+    print("PROBE", x, "tmp" in globals())
""",
    restores=None,
)

add(
    "del_after_inner",
    """
import time
n = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        loss = epoch * i
        n += loss
    del loss, i
    print(n)
+    print("PROBE", n)
""",
)

add(
    "del_after_inner_in_function",
    """
import time
def train():
    n = 0
    for epoch in range(3):
        for i in range(2):
            time.sleep(0.01)
            outputs = [epoch * i]
            n += outputs[0]
        del (outputs,)
        print(n)
+        print("PROBE", n)
train()
""",
)

add(
    "del_inside_inner",
    """
import time
out = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        t = epoch + i
        out += t
        del t
    print(out)
+    print("PROBE", out, "t" in globals())
""",
    restores=None,
)

add(
    "del_outer_name_inside_inner",
    """
import time
for epoch in range(3):
    big = [epoch] * 3
    s = 0
    for i in range(2):
        time.sleep(0.01)
        if i == 0:
            s = sum(big)
            del big
    print(s)
+    print("PROBE", s, "big" in globals())
""",
    restores=None,
)

add(
    "executor_that_is_never_shut_down",
    """
import time
from concurrent.futures import ThreadPoolExecutor
pool, total = ThreadPoolExecutor(2), 0
for epoch in range(3):
    for step in range(3):
        time.sleep(0.01)
        total += step
    print(epoch, pool.submit(pow, 2, total).result())
+    print("PROBE", total)
""",
)

add(
    "first_of_what_is_walked_anew",
    """
import time
d = {"a": 1}; rows = [1, 2, 3]
for e in range(3):
    for i in range(3):
        d[f"k{i}"] = e; time.sleep(0.02)
+        if i == 2: print("PROBE in", next(iter(d)), next((r for r in rows if r > 1), None))
+    print("PROBE", next(iter(rows)), next(r for r in rows if r > 1))
    print(e)
""",
    exact=True,
    restores=None,
)

add(
    "table_of_modules_is_asked_for_a_class",
    """
import sys, time
class SGD:
    def __init__(self, lr): self.lr = lr; self.n = 0
    def step(self, w): self.n += 1; return w * (1 - self.lr)
w = 1.0; opts = []
for e in range(4):
    for i in range(4):
        o = getattr(sys.modules[__name__], "SGD")(0.1); w = o.step(w); opts.append(o); time.sleep(0.01)
+    print("PROBE", e, w, len(opts))
    print(e)
""",
    restores=None,
)

add(
    "registered_with_a_function",
    """
import time, functools
@functools.singledispatch
def f(x): return "base"
def setup(e):
    if e == 1: f.register(int, lambda x: "int")
for e in range(3):
    for i in range(3): setup(e); time.sleep(0.02)
+    print("PROBE", e, f(3))
    print(e)
""",
    restores=None,
)

add(
    "changes_a_module_that_a_function_imports",
    """
import builtins, sys, os, time
builtins.cnt = 0
def bump():
    import builtins as b
    b.cnt += 1; os.mycount = getattr(os, 'mycount', 0) + 1
for e in range(3):
    for i in range(3): bump(); time.sleep(0.01)
+    print("PROBE", e, cnt, os.mycount)
    print(e)
""",
    restores=None,
)

add(
    "folder_renamed_and_made_anew_in_each_epoch",
    """
import os, time
os.mkdir("kept")
weight = 1.0
for epoch in range(3):
    for step in range(3):
        weight *= 0.9
        with open(f"kept/{epoch}{step}", "w") as file:
            file.write("x")
        time.sleep(0.02)
+    print("PROBE", epoch, len(os.listdir("kept")))
    os.rename("kept", f"kept{epoch}")
    os.mkdir("kept")
    print(epoch)
""",
    flagged=True,
)
