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


@pytest.mark.parametrize(
    ("loader", "why"),
    [
        ("d.DataLoader(rows, 4, sampler=d.SubsetRandomSampler(range(40)))", "a running generator"),
        ("d.DataLoader(rows, 4, sampler=d.RandomSampler(rows, replacement=True, num_samples=50))", "a running generator"),
        ("d.DataLoader(rows, 4, num_workers=1)", "_MultiProcessingDataLoaderIter"),
    ],
)
def test_what_cannot_be_told_runs_again(workshop: Workshop, loader: str, why: str) -> None:
    _runs_again(workshop, HEAD.replace("LOADER", loader) + STEPS.replace("NEXT", "more()").replace("LAST", "5"), why)


@pytest.mark.parametrize(
    "lines",
    [
        ("n = 0", "while True:", "    for x, y in source:", "        n += 1", "        yield x * n, y"),
        ("while True:", "    for x, y in source:", "        yield x + torch.rand(1), y"),
        ("while True:", "    for item in zip(source):", "        yield item[0]"),
    ],
    ids=["counts", "draws", "zips"],
)
def test_a_generator_that_does_more_than_take_runs_again(workshop: Workshop, lines: tuple[str, ...]) -> None:
    text = HEAD.replace("LOADER", SHUFFLED) + generator(*lines) + STEPS.replace("NEXT", "next(it)").replace("LAST", "5")
    _runs_again(workshop, text, "a running generator")


def _runs_again(workshop: Workshop, text: str, why: str) -> None:
    workshop.write("train.py", text)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert why in recorded.said, recorded.said
    workshop.write("train.py", text.replace("        print(epoch, loss)", '        print("P", loss)\n        print(epoch, loss)'))
    truth = "".join(line for line in workshop.plain("train.py").out.splitlines(True) if line.startswith("P "))
    done = workshop.florc("replay", "train.py")
    assert done.out == truth and "exact" in done.said, done.said
