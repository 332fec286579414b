"""Loops of steps that take from an iterator which outlives them: `it = iter(loader)`, `next(it)`, begun again at its end."""

from __future__ import annotations

import pytest
from workshop import Workshop

HEAD = """
    import torch
    from torch import nn
    from torch.utils import data as d

    torch.manual_seed(0)
    rows = d.TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
    other = d.DataLoader(rows, batch_size=32)
    net = nn.Linear(8, 1)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

    def train(x, y):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    loader = LOADER
    it = iter(loader)

    def more():
        global it
        try:
            return next(it)
        except StopIteration:
            it = iter(loader)
            return next(it)
"""
STEPS = """
    for epoch in range(3):
        for step in range(11):
            x, y = NEXT
            loss = train(x, y)
        print(epoch, loss)
    for last in range(LAST):
        x, y = NEXT
        loss = train(x, y)
    print("end", loss, torch.rand(1).item())
"""
OF_A_TRAINER = """
    class Trainer:
        def __init__(self):
            self.it = iter(loader)
        def more(self):
            try:
                return next(self.it)
            except StopIteration:
                self.it = iter(loader)
                return next(self.it)
    trainer = Trainer()
"""
OF_A_CLOSURE = """
    def made(loader):
        it = iter(loader)
        def take():
            nonlocal it
            try:
                return next(it)
            except StopIteration:
                it = iter(loader)
                return next(it)
        return take
    take = made(loader)
"""
OF_A_CLASS = """
    class Data:
        it = iter(loader)
        @classmethod
        def take(cls):
            try:
                return next(cls.it)
            except StopIteration:
                cls.it = iter(loader)
                return next(cls.it)
"""
SHUFFLED = "d.DataLoader(rows, batch_size=4, shuffle=True)"


def generator(*lines: str) -> str:
    """A generator function over a loader, and the iterator of it."""
    return "".join(
        f"    {line}\n" for line in ("def forever(source):", *(f"    {line}" for line in lines), "it = forever(loader)")
    )


ROW = "rows[(lambda i: slice(i, i + 1))(next(it))]"
CASES = {
    "shuffled": ("d.DataLoader(rows, batch_size=4, shuffle=True)", "more()", ""),
    "generator of its own": ("d.DataLoader(rows, 4, True, generator=torch.Generator().manual_seed(3))", "more()", ""),
    "drop_last": ("d.DataLoader(rows, batch_size=5, shuffle=True, drop_last=True)", "more()", ""),
    "weighted": ("d.DataLoader(rows, 4, sampler=d.WeightedRandomSampler(torch.arange(64).float(), 64))", "more()", ""),
    "of one rank": ("d.DataLoader(rows, 4, sampler=d.DistributedSampler(rows, 2, 1))", "more()", ""),
    "BatchSampler": ("d.DataLoader(rows, batch_sampler=d.BatchSampler(d.SequentialSampler(rows), 7, False))", "more()", ""),
    "no batches": ("d.DataLoader(rows, batch_size=None, shuffle=True)", "[part[None] for part in more()]", ""),
    "two names": ("d.DataLoader(rows, 1, True)", "next(held[0]) if loss else next(it)", "    held, loss = [it], 0.0\n"),
    "attribute": ("d.DataLoader(rows, batch_size=4, shuffle=True)", "trainer.more()", OF_A_TRAINER),
    "closure": (SHUFFLED, "take()", OF_A_CLOSURE),
    "class": (SHUFFLED, "Data.take()", OF_A_CLASS),
    "for item in loader": (SHUFFLED, "next(it)", generator("while True:", "    for item in source:", "        yield item")),
    "for x, y in loader": (SHUFFLED, "next(it)", generator("while True:", "    for x, y in source:", "        yield x, y")),
    "yield from loader": (SHUFFLED, "next(it)", generator("while True:", "    yield from source")),
    "its own next": (
        "d.DataLoader(rows, 4, True, generator=torch.Generator().manual_seed(3))",
        "next(it)",
        generator(
            *("inner = iter(source)", "while True:", "    try:", "        yield next(inner)", "    except StopIteration:"),
            "        inner = iter(source)",
        ),
    ),
    "list": ("torch.randperm(64).tolist()", ROW, ""),
    "range": ("range(64)", ROW, ""),
}


@pytest.mark.parametrize("name", CASES)
def test_iterators_go_on_where_they_were(workshop: Workshop, name: str) -> None:
    loader, take, more = CASES[name]
    text = HEAD.replace("LOADER", loader) + more + STEPS.replace("NEXT", take).replace("LAST", "20")
    workshop.write("train.py", text)
    plain = workshop.plain("train.py")
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.out == plain.out and recorded.code == 0, recorded.err
    probed = text.replace('\n    print("end"', '\n        print("P", last, loss, x.sum().item())\n    print("end"')
    workshop.write("train.py", probed)
    truth = "".join(line for line in workshop.plain("train.py").out.splitlines(True) if line.startswith("P "))
    done = workshop.florc("replay", "train.py")
    assert done.out == truth and "exact" in done.said, done.said
    assert " 0 blocks restored" not in done.said and "1 run again" in done.said, done.said


SUBSET = "d.DataLoader(rows, 4, sampler=d.SubsetRandomSampler(range(40)))"
OF_A_FILE = """
    import pathlib
    pathlib.Path("numbers.txt").write_text("1\\n2\\n3\\n" * 60)
    def lines():
        with open("numbers.txt") as file:
            for line in file:
                yield torch.full((1, 8), float(line)), torch.ones(1, 1)
    it = lines()
"""
LAPSE = {
    "indices of a subset": (SUBSET, "more()", ""),
    "indices drawn with replacement": (
        "d.DataLoader(rows, 4, sampler=d.RandomSampler(rows, replacement=True, num_samples=50))",
        "more()",
        "",
    ),
    "workers": ("d.DataLoader(rows, 4, num_workers=1)", "more()", ""),
    "cycle": (SHUFFLED, "next(it)", "    import itertools\n    it = itertools.cycle(loader)\n"),
    "enumerate": (SHUFFLED, "next(it)[1]", "    it = enumerate(x for _ in range(9) for x in loader)\n"),
    "attribute": (SUBSET, "trainer.more()", OF_A_TRAINER),
    "closure": (SUBSET, "take()", OF_A_CLOSURE),
    "class": (SUBSET, "Data.take()", OF_A_CLASS),
    "default": (SHUFFLED, "take()", "    import itertools\n    def take(it=itertools.cycle(loader)):\n        return next(it)\n"),
    "attribute of a function": (
        SHUFFLED,
        "take()",
        "    import itertools\n    def take():\n        return next(take.it)\n    take.it = itertools.cycle(loader)\n",
    ),
    "persistent workers": ("d.DataLoader(rows, 4, num_workers=1, persistent_workers=True)", "more()", ""),
    "counts": (
        SHUFFLED,
        "next(it)",
        generator("n = 0", "while True:", "    for x, y in source:", "        n += 1", "        yield x * n, y"),
    ),
    "draws": (SHUFFLED, "next(it)", generator("while True:", "    for x, y in source:", "        yield x + torch.rand(1), y")),
    "zips": (SHUFFLED, "next(it)", generator("while True:", "    for item in zip(source):", "        yield item[0]")),
    "a file": (SHUFFLED, "next(it)", OF_A_FILE),
    "a stream": ("d.DataLoader(Stream(), 4)", "next(it)", ""),
}
STREAM = """
    class Stream(d.IterableDataset):
        def __iter__(self):
            for i in range(1000):
                yield rows[i % 64][0] + torch.rand(1), rows[i % 64][1]

    loader ="""


@pytest.mark.parametrize("where", ["behind", "inside"])
@pytest.mark.parametrize("name", LAPSE)
def test_an_iterator_that_cannot_be_restored_is_missed_only_where_it_is_used(workshop: Workshop, name: str, where: str) -> None:
    loader, take, more = LAPSE[name]
    text = HEAD.replace("LOADER", loader) + more + STEPS.replace("NEXT", take).replace("LAST", "5")
    if "Stream" in text:
        text = text.replace("\n    loader =", STREAM)
    if where == "inside":  # the last loop takes from it: what was restored before is computed again
        probed = text.replace('\n    print("end"', '\n        print("P", last, loss, x.sum().item())\n    print("end"')
    else:
        probed = text.replace(
            "        print(epoch, loss)", '        print("P", loss, net.weight.sum().item())\n        print(epoch, loss)'
        )
    workshop.write("train.py", text)
    plain = workshop.plain("train.py")
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.out == plain.out and recorded.code == 0, recorded.err
    workshop.write("train.py", probed)
    truth = "".join(line for line in workshop.plain("train.py").out.splitlines(True) if line.startswith("P "))
    done = workshop.florc("replay", "train.py")
    assert done.out == truth and "exact" in done.said, done.said
    if "workers" in name and "4 checkpoints" not in recorded.said:
        return  # on a busy machine one may not be kept: then its block has to run, and exact is all that can be asked for
    if where == "behind":
        assert "4 blocks restored" in done.said and "started again" not in done.said, recorded.said + done.said
    else:
        assert "takes from an iterator that no checkpoint holds" in done.said and "started again" not in done.said, done.said


USED = """
    import itertools
    it = itertools.cycle(loader)
    def train_some(count):
        for step in range(count):
            x, y = next(it)
            loss = train(x, y)
        return loss
    for epoch in range(3):
        loss = train_some(7)
        print(epoch, loss)
    USE
"""
USES = {
    "next": "print(next(it)[0].sum().item())",
    "for": "print(sum(x.sum().item() for x, y in itertools.islice(it, 3)))",
    "its class": "print(type(it))",
    "its class's name": "print(type(it).__name__)",
    "isinstance": "print(isinstance(it, itertools.cycle))",
    "an attribute": "print(hasattr(it, 'close'))",
    "repr": "print(repr(it)[:24])",
    "truth": "print(bool(it))",
    "equality": "print(it == 1)",
    "hash": "print({it: 1}[it])",
    "copy": "import copy\n    print(next(copy.copy(it))[0].sum().item())",
    "list": "print(len(list(zip(range(3), it))))",
    "map": "print([x.shape for x, y in map(lambda p, _: p, it, range(2))])",
}


@pytest.mark.parametrize("use", USES)
def test_each_use_of_it_is_noticed(workshop: Workshop, use: str) -> None:
    text = HEAD.replace("LOADER", SHUFFLED) + USED.replace("USE", USES[use])
    _, done, truth = workshop.asked(
        text, text.replace("        print(epoch, loss)", '        print(epoch, loss)\n        print("P", loss)')
    )
    assert done.out == truth and "exact" in done.said, done.said
    assert "is used later" in done.said, done.said
    again = workshop.florc("replay", "train.py")  # which knows that now
    assert again.out == truth and "exact" in again.said and "started again" not in again.said, again.said


@pytest.mark.parametrize("second", ["other = it", "other = [it]", "other = lambda: next(it)"])
def test_what_somebody_else_holds_does_not_lapse(workshop: Workshop, second: str) -> None:
    body = f"""
    def main():
        it = (x for _ in range(9) for x in loader)
        {second}
        for epoch in range(3):
            for step in range(5):
                x, y = next(it)
                loss = train(x, y)
            print(epoch, loss)
        take = other if callable(other) else lambda: next(other[0] if type(other) is list else other)
        print(take()[0].sum().item())
    main()
"""
    text = HEAD.replace("LOADER", SHUFFLED) + body
    workshop.write("train.py", text)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    line = "            print(epoch, loss)\n"
    workshop.write("train.py", text.replace(line, line + '            print("P", epoch, loss)\n'))
    truth = "".join(line for line in workshop.plain("train.py").out.splitlines(True) if line.startswith("P "))
    done = workshop.florc("replay", "train.py")
    assert done.out == truth and "exact" in done.said, done.said + recorded.said


DROPPED = """
    class Says:
        def __init__(self, items):
            self.items = items
        def __del__(self):
            print("let go")
    def closes(items):
        try:
            for item in items:
                yield item
        finally:
            print("closed")
    def holds(items):
        says = Says(items)
        for item in says.items:
            yield item
    def inside(items):
        yield from closes(items)
    def around(items):
        for item in closes(items):
            yield item
    for epoch in range(3):
        it = MADE
        for step in range(7):
            x, y = next(it)
            loss = train(x, y)
        it = None
        print(epoch, loss)
"""
SEEN = {
    "a weak reference": (
        "import weakref\n    it = (x for _ in range(9) for x in loader)\n    w = weakref.ref(it)",
        "w() is it, w() is None",
    ),
    "a weak set": (
        "import weakref\n    T = weakref.WeakSet()\n    class C:\n        n = 0\n    def g():\n        c = C()\n        T.add(c)\n"
        "        for _ in range(9):\n            for x in loader:\n                c.n += 1\n                yield x\n    it = g()",
        "[c.n for c in T]",
    ),
    "a finalizer": (
        "import weakref\n    done = []\n    class C:\n        n = 0\n    def g():\n        c = C()\n        weakref.finalize(c, done.append, 1)\n"
        "        for _ in range(9):\n            for x in loader:\n                c.n += 1\n                yield x\n    it = g()",
        "[done, globals().update(it=None), done]",
    ),
    "a tee": (
        "import itertools\n    it, second = itertools.tee(x for _ in range(9) for x in loader)",
        "next(second)[0].sum().item()",
    ),
    "its class compared": ("import types\n    it = (x for _ in range(9) for x in loader)", "type(it) in (types.GeneratorType,)"),
    "its size": ("import sys\n    it = (x for _ in range(9) for x in loader)", "sys.getsizeof(it)"),
}


@pytest.mark.parametrize("seen", SEEN)
def test_who_looks_past_it_is_not_answered_wrongly(workshop: Workshop, seen: str) -> None:
    made, looked = SEEN[seen]
    body = f"""
    {made}
    for epoch in range(3):
        for step in range(7):
            x, y = next(it)
            loss = train(x, y)
        print(epoch, loss)
    v = {looked}
    print("end", loss)
"""
    text = HEAD.replace("LOADER", SHUFFLED) + body
    _, done, truth = workshop.asked(text, text.replace('    print("end"', '    print("P", v)\n    print("end"'))
    assert done.out == truth and "exact" in done.said, done.said


MADE = {
    "itself": "closes(loader)",
    "enumerated": "(pair for n, pair in enumerate(closes(loader)))",
    "mapped": "map(tuple, closes(loader))",
    "delegated": "inside(loader)",
    "taken from": "around(loader)",
    "an object": "holds(loader)",
    "an object, mapped": "map(tuple, holds(loader))",
}


@pytest.mark.parametrize("made", MADE)
def test_what_dropping_one_does_is_done(workshop: Workshop, made: str) -> None:
    text = HEAD.replace("LOADER", SHUFFLED) + DROPPED.replace("MADE", MADE[made])
    _, done, truth = workshop.asked(
        text, text.replace("        print(epoch, loss)", '        print(epoch, loss)\n        print("P", loss)')
    )
    assert done.out == truth and "exact" in done.said, done.said
