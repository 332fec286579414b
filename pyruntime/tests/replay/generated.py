"""Programs made at random: loops in loops over aliased lists, dicts, objects and arrays, with statements added in hindsight.

They are meant to be nasty, not to be like anybody's: names that share an object and cease to, objects that hold each
other, functions that change what they are handed and what they are not.
"""

from __future__ import annotations

import random
from collections.abc import Callable

INTS, LISTS, DICTS, NODES, ARRAYS = ("i1", "i2", "i3"), ("l1", "l2", "l3"), ("d1", "d2"), ("n1", "n2", "n3"), ("a1", "a2")
ALL = (*INTS, *LISTS, *DICTS, *NODES, *ARRAYS, "G", "LOG", "x", "y", "box", "Node.made")
SHARED = "l1 is l3, n1 is n3, a1 is a2, box['k'] is l2"

HEAD = """\
import datetime, functools, os, time, random
import numpy as np
random.seed(0); np.random.seed(0)
class Node:
    made = 0
    def __init__(self, v=0):
        self.v = v; self.kids = []; self.tag = None
    def bump(self, k=1):
        self.v += k
        return self
    def add(self, x):
        self.kids.append(x)
        return len(self.kids)
    def total(self):
        return self.v + sum(k.v if isinstance(k, Node) else k for k in self.kids)
    def __repr__(self): return f"N({self.v},{self.kids},{self.tag})"
class Sub(Node):
    def bump(self, k=1):
        LOG.append(k)
        return super().bump(2 * k)
@functools.lru_cache(maxsize=None)
def remembered(k):
    return k * k + 1
LOG = []
G = 0
T0 = -1e9
def bump_g(k):
    global G
    G += k
    return G
def push(lst, x):
    lst.append(x)
    return lst
def swap(d, k, v):
    old = d.get(k)
    d[k] = v
    return old
def make(v):
    n = Node(v)
    LOG.append(v)
    return n
def loopy(n, out):
    acc = 0
    for q in range(n):
        time.sleep(0.004)
        acc += q
        out.append(acc)
    return acc
"""
INIT = (
    "i1, i2, i3 = 1, 2, 3",
    "l1, l2 = [1], [2, 3]",
    "l3 = l1",
    "d1, d2 = {0: 1}, {}",
    "n1, n2 = Node(1), Sub(2)",
    "n3 = n1",
    "a1 = np.arange(3.0)",
    "a2 = a1",
    "box = {'k': l2, 'j': l1}",
    "x = y = 0",
)
STATEMENTS = (
    "{i} = {e}",
    "{i} += {e}",
    "{i} = ({i} * 3 + {e}) % 101",
    "{i}, {i} = {e}, {e}",
    "x = {e}",
    "y = {e}",
    "{l}.append({e})",
    "{l} = [{e}]",
    "{l} = {l}",
    "{l} = {l} + [{e}]",
    "{l} += [{e}]",
    "push({l}, {e})",
    "{l} = push({l}, {e})",
    "del {l}[:1]",
    "{l}[:] = {l}[-5:]",
    "{l} = list({l})[-6:]",
    "{d}[{c}] = {e}",
    "swap({d}, {c}, {e})",
    "{d} = dict({d})",
    "{d}.pop({c}, None)",
    "{d} = {d}",
    "{n}.bump({e})",
    "{n} = {n}.bump(1)",
    "{n} = make({e})",
    "{n} = Sub({e})",
    "{n} = {n}",
    "{n}.tag = {e}",
    "{n}.add({e})",
    "{n}.kids = {l}",
    "{l} = {n}.kids",
    "{a} += {e}",
    "{a} = {a} * 0.5",
    "{a}[{t}] = {e}",
    "{a} = {a}.copy()",
    "{a} -= np.random.rand(3)",
    "bump_g({e})",
    "G = G + {e}",
    "{i} = loopy({t}, {l})",
    "LOG.append({e})",
    "Node.made += 1",
    "box['k'] = {l}",
    "box['j'] = {l}",
    "box['k'].append({e})",
    "{i} = ({i} + (time.time() > T0)) % 101",
    "took = time.perf_counter() - T0; {i} = {i} + (took < 0)",
    "{l}.append(len(os.urandom(2)))",
    "{i} = remembered({e}) % 101",
    "T0 = min(T0, time.monotonic() - 1e9)",
    "{d}[{c}] = datetime.datetime.now().year > 2000",
)
EXPRESSIONS = (
    "{c}",
    "{i}",
    "len({l})",
    "{n}.v",
    "G",
    "{d}.get({c}, 1)",
    "int({a}.sum()) % 7",
    "random.randrange(5)",
    "{n}.total() % 11",
    "({i} + {c}) % 13",
)

Suite = Callable[[list[str], str], list[str]]


def program(seed: int) -> str:
    """A patch, as `harness` reads it."""
    return _Maker(random.Random(seed)).program()


class _Maker:
    def __init__(self, choices: random.Random):
        self._random = choices

    def _fill(self, template: str, loops: list[str], depth: int = 2) -> str:
        kinds = {"i": INTS, "l": LISTS, "d": DICTS, "n": NODES, "a": ARRAYS, "c": "0123", "t": "012"}
        parts = []
        for part in template.replace("}", "{").split("{"):
            if part == "e" and depth:
                part = self._fill(self._random.choice((*EXPRESSIONS, *loops)), loops, depth - 1)
            elif part in kinds and depth:
                part = self._random.choice(kinds[part])
            parts.append(part)
        return "".join(parts)

    def _statement(self, loops: list[str]) -> str:
        template = self._random.choice(STATEMENTS)
        return self._fill(template, loops)

    def _test(self, loops: list[str]) -> str:
        return self._fill("{e}", loops)

    def _suite(self, loops: list[str], indent: str, count: int, in_loop: bool, depth: int = 1) -> list[str]:
        out: list[str] = []
        inner = indent + "    "
        for _ in range(count):
            kind = self._random.random()
            if kind < 0.12 and depth < 3:
                out += [f"{indent}if ({self._test(loops)}) % 2 == 0:", *self._suite(loops, inner, 2, in_loop, depth + 1)]
                if self._random.random() < 0.4:
                    out += [f"{indent}else:", *self._suite(loops, inner, 1, in_loop, depth + 1)]
            elif kind < 0.16 and in_loop:
                out.append(f"{indent}if ({self._test(loops)}) % 5 == 1: {self._random.choice(('break', 'continue'))}")
            elif kind < 0.2 and depth < 3:
                out += [
                    f"{indent}try:",
                    *self._suite(loops, inner, 1, in_loop, depth + 1),
                    f"{inner}i1 = 1 // (({self._test(loops)}) % 3)",
                    f"{indent}except ZeroDivisionError:",
                    *self._suite(loops, inner, 1, in_loop, depth + 1),
                ]
            else:
                out.append(indent + self._statement(loops))
        return out

    def _loop(self, name: str, loops: list[str], indent: str, body: Suite) -> list[str]:
        kind, count = self._random.random(), self._random.choice((0, 2, 3, 3, 3, 3, 3))
        inner = [*loops, name], indent + "    "
        if kind < 0.75:
            return [f"{indent}for {name} in range({count}):", *body(*inner)]
        if kind < 0.9:
            of = self._random.choice(LISTS)
            return [f"{indent}for {name}, _e in enumerate(list({of})[:{count}] or [0]):", *body(*inner)]
        return [f"{indent}{name} = 0", f"{indent}while {name} < {count}:", f"{indent}    {name} += 1", *body(*inner)]

    def _inner(self, loops: list[str], indent: str) -> list[str]:
        return [f"{indent}time.sleep(0.008)", *self._suite(loops, indent, self._random.randrange(2, 6), True)]

    def _outer(self, loops: list[str], indent: str) -> list[str]:
        out = self._suite(loops, indent, self._random.randrange(3), False)
        for n in range(self._random.randrange(1, 3)):
            out += self._loop(f"j{n}", loops, indent, self._inner)
            out += self._suite(loops, indent, self._random.randrange(3), False)
        shown = self._random.sample((*INTS, *LISTS, *DICTS, *NODES, *ARRAYS, "G", "LOG"), self._random.randrange(1, 4))
        return [*out, f"{indent}print('e', {', '.join(shown)})", *self._probe(indent)]

    def _probe(self, indent: str) -> list[str]:
        if self._random.random() < 0.2:
            return []
        shown = self._random.sample(ALL, self._random.randrange(3, 9))
        return [f"+{indent}print('PROBE', {', '.join(shown)}, {SHARED})"]

    def program(self) -> str:
        in_function = self._random.random() < 0.4
        indent = "    " if in_function else ""
        body = [indent + line for line in INIT]
        body += self._loop("ep", [], indent, self._outer)
        body += [*self._probe(indent), f"{indent}print('end', i1, l1, n1)"]
        if in_function:
            body = ["def main():", "    global G", *body, "main()"]
        return HEAD + "\n".join(body) + "\n"
