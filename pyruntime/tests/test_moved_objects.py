"""Objects that a block moves from place to place while something outside refers to them, too: each is the one that it was."""

from __future__ import annotations

import pytest
from workshop import Workshop

NODE = "class N:\n    def __init__(self, i):\n        self.i, self.n = i, 0\n"
MOVES = {
    "a queue, two entries": ("A = [[0], [1], [2]]\nx = {'k': A[0], 'j': A[1]}", "A.append(A.pop(0))", "x, A"),
    "a queue, a tuple of all": ("A = [[0], [1], [2]]\nx = tuple(A)", "A.append(A.pop(0))", "x, A"),
    "a queue, a list of all": ("A = [[0], [1], [2]]\nx = list(A)", "A.append(A.pop(0)); A[0].append(i)", "x, A"),
    "two swapped": (
        "A = {'a': [0], 'b': [1]}\nx = tuple(A.values())",
        "A['a'], A['b'] = A['b'], A['a']; A['a'].append(i)",
        "x, A",
    ),
    "a pool": (
        f"{NODE}free, used = [N(i) for i in range(4)], []\nbyid = {{o.i: o for o in free}}",
        "o = free.pop(); o.n += 1; used.append(o); free.insert(0, used.pop(0))",
        "[byid[k].n for k in byid], [o.i for o in free], byid[free[0].i] is free[0]",
    ),
    "a population": (
        f"{NODE}pop = [N(i) for i in range(4)]\nids = {{n.i: n for n in pop}}",
        "pop[i % 4].n += i; pop.sort(key=lambda p: -p.n)",
        "[ids[k].n for k in ids], [p.i for p in pop]",
    ),
    "names inside an object": (
        f"{NODE}class M: pass\nm = M()\nm.layers = [N(i) for i in range(3)]\nm.names = {{f'l{{n.i}}': n for n in m.layers}}",
        "m.layers.append(m.layers.pop(0)); m.layers[0].n += 1",
        "[m.names[k].n for k in m.names], [n.i for n in m.layers]",
    ),
    "what a closure holds": (
        "A = [[0], [1], [2]]\ndef make():\n    held = tuple(A)\n    return lambda: [list(h) for h in held]\nseen = make()",
        "A.append(A.pop(0)); A[0].append(i)",
        "seen(), A",
    ),
    "two globals, by a callback": (
        f"{NODE}a, b = N(0), N(1)\nopt = {{'p': a}}\ndef call(v):\n    global a, b\n    a, b = b, a\n    a.n += 1\nT = [call]",
        "list(map(T[0], [i]))",
        "opt['p'].n, opt['p'] is a",
    ),
    "a list that changes hands, by a callback": (
        "A, B = [1], [2]\nA0 = A\ndef call(v):\n    global A, B\n    A, B = B, A\n    A.append(v)\nT = [call]",
        "list(map(T[0], [i]))",
        "A0 is A, A0, A, B",
    ),
    "a chain, by a callback": (
        f"{NODE}r = N(0)\nr.kids = []\ncur = r\ndef call(v):\n    global cur\n    k = N(v)\n    k.up, k.kids = cur, []\n"
        "    cur.kids.append(k)\n    cur = k\nT = [call]",
        "list(map(T[0], [i]))",
        "len(r.kids), cur.up.kids[0] is cur",
    ),
    "a number in a closure, by a callback": (
        "def make():\n    n = 0\n    def call(v):\n        nonlocal n\n        n += v\n        return n\n    return call\ncall = make()\nT = [call]",
        "list(map(T[0], [i]))",
        "call.__closure__[0].cell_contents",
    ),
    "the order of a dict": (
        "from collections import OrderedDict\nA = OrderedDict(a=1, b=2, c=3)\nT = [lambda v: A.move_to_end('abc'[v % 3])]",
        "list(map(T[0], [i]))",
        "list(A)",
    ),
    "a class that takes the place of another": (
        "class K:\n    n = 0\ndef call(v):\n    global K\n    class K:\n        n = v\nT = [call]",
        "list(map(T[0], [i]))",
        "K.n",
    ),
    "a sign": ("x = 0.0\ndef call(v):\n    global x\n    x = -x\nT = [call]", "list(map(T[0], [i]))", "x"),
}


@pytest.mark.parametrize("name", MOVES)
def test_objects_that_move_are_the_ones_that_they_were(workshop: Workshop, name: str) -> None:
    made, body, seen = MOVES[name]
    text = (
        f"import time\n{made}\ns = 0\nfor epoch in range(4):\n    for i in range(5):\n        time.sleep(0.001)\n        s += i\n"
    )
    text += f"        {body}\n    print('epoch', epoch, s)\n"
    _, done, truth = workshop.asked(text, text + f"    print('P', {seen})\nprint('P', {seen})\n")
    assert done.out == truth and ("exact: " in done.said or "seen()" in seen), done.said


def test_tensors_that_move_are_the_ones_that_they_were(workshop: Workshop) -> None:
    pytest.importorskip("torch")
    text = """
        import torch
        torch.manual_seed(0)
        m = {"a": torch.nn.Linear(2, 1), "b": torch.nn.Linear(2, 1)}
        opt = torch.optim.SGD(m["a"].parameters(), lr=0.1)
        rows = [torch.zeros(2) for _ in range(4)]
        kept = dict(enumerate(rows))
        for epoch in range(3):
            for i in range(5):
                m["a"], m["b"] = m["b"], m["a"]
                with torch.no_grad():
                    m["a"].weight += 1
                rows.append(rows.pop(0))
                rows[0] += i
            print("epoch", epoch)
    """
    line = '            print("epoch", epoch)\n'
    probe = "opt.param_groups[0]['params'][0].tolist(), [kept[k].tolist() for k in kept], [r.tolist() for r in rows]"
    _, done, truth = workshop.asked(text, text.replace(line, f"{line}            print('P', {probe})\n"))
    assert truth.count("\n") == 3 and done.out == truth and "exact: " in done.said, done.said
