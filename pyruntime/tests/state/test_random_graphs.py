"""Random object graphs, with sharing and cycles, restored over other random graphs."""

import collections
import json
import random

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


class Node:
    pass


class Slots:
    __slots__ = ("left", "right")


class Table(dict):
    pass


def grow(rng, size):
    """Places over about `size` objects that refer to each other at random."""
    pool = [1, 2.5, "s", None, True, (1, 2), -0.0, 10**30, b"b"]

    def pick():
        return rng.choice(pool)

    for _ in range(size):
        kind = rng.randrange(14)
        if kind == 0:
            new = [pick() for _ in range(rng.randrange(5))]
        elif kind == 1:
            new = {rng.choice("abcdef"): pick() for _ in range(rng.randrange(5))}
        elif kind == 2:
            new = tuple(pick() for _ in range(rng.randrange(4)))
        elif kind in (3, 4):
            new = Node()
            for name in rng.sample("xyzuv", rng.randrange(4)):
                setattr(new, name, pick())
        elif kind == 5:
            new = Slots()
            new.left = pick()
        elif kind == 6:
            new = collections.deque([pick() for _ in range(3)], maxlen=rng.choice([None, 3]))
        elif kind == 7:
            new = torch.randn(rng.randrange(1, 4), 2)
        elif kind == 8:
            tensors = [x for x in pool if isinstance(x, torch.Tensor) and x.dim() == 2 and len(x) > 1]
            new = rng.choice(tensors)[1:] if tensors else torch.zeros(1)
        elif kind == 9:
            new = np.arange(rng.randrange(1, 5)) * 1.5
        elif kind == 10:
            new = torch.nn.Parameter(torch.randn(2))
        elif kind == 11:
            new = {rng.randrange(9) for _ in range(4)}
        elif kind == 12:
            new = Table(a=pick())
            new.note = pick()
        else:
            new = collections.defaultdict(list, {rng.randrange(4): pick()})
        pool.append(new)
        holders = [x for x in pool if isinstance(x, (list, Node))]
        if holders and rng.random() < 0.3:  # refer back: a cycle
            holder = rng.choice(holders)
            if isinstance(holder, list):
                holder.append(new)
            else:
                holder.back = new
    return {name: pick() for name in rng.sample("abcdefgh", rng.randrange(1, 6))}


@pytest.mark.parametrize("seed", range(150))
def test_any_graph_over_any_other(round_trip, seed):
    rng = random.Random(seed)
    places = grow(rng, rng.randrange(1, 60))
    other = grow(rng, rng.randrange(1, 60))
    round_trip(places, other, grow(random.Random(seed), 40))


@pytest.mark.parametrize("seed", range(40))
def test_the_graph_is_what_json_would_write(freeze, seed):
    rng = random.Random(seed)
    numbers = [
        rng.choice(
            [
                0.0,
                -0.0,
                1e16,
                1e-5,
                1e22,
                5e-324,
                2**63,
                -(2**63),
                2**64,
                "é\ud800",
                "\x7f\n",
                "😀",
                b"",
                b"x" * 99,
                (1, (2, "a")),
                (float("nan"), True, None),
                rng.random() * 10 ** rng.randrange(-20, 20),
            ]
        )
        for _ in range(30)
    ]
    graph = freeze({**grow(rng, 40), "numbers": numbers}).graph
    assert json.dumps(json.loads(graph), separators=(",", ":")).encode() == graph


@pytest.mark.parametrize("seed", range(50))
def test_back_in_time(freeze, seed):
    """The same program, changed after the checkpoint: every place that can be is restored in place."""
    rng = random.Random(seed)
    places = grow(rng, 40)
    before = freeze(places)
    for value in list(places.values()):
        if isinstance(value, list):
            value.append(value), value.insert(0, 7)
        elif isinstance(value, Node):
            value.new, value.x = [value], None
        elif isinstance(value, dict):
            value["q"] = value
        elif isinstance(value, torch.Tensor):
            value.data.add_(1)
    out = before.restore(places)
    assert freeze(out) == before
    for name, value in places.items():
        if isinstance(value, (list, Node, dict, torch.nn.Parameter)):
            assert out[name] is value
