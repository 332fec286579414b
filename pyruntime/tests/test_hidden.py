"""Where a call may hide what it changes: every answer is that of a plain run, whether the block is restored or runs again."""

from __future__ import annotations

import pytest
from workshop import Workshop

LOOP = """
for epoch in range(3):
    for step in range(20):
        time.sleep(0.001)
        if step % 5 == 0:
            {call}
    print("epoch", epoch)
print("end", {seen})
"""
HIDDEN = {
    "dunder default": (
        "class C(dict):\n    def __missing__(self, k, seen=[]):\n        seen.append(k); return 1\nc = C()\n",
        "c[step]",
        "C.__missing__.__defaults__",
    ),
    "getitem default": (
        "class C:\n    def __getitem__(self, k, seen=[]):\n        seen.append(k); return 1\nc = C()\n",
        "c[step]",
        "C.__getitem__.__defaults__",
    ),
    "call kwdefault": (
        'class C:\n    def __call__(self, k, *, seen=[]):\n        seen.append(k); return 1\nc = {"x": C()}\n',
        'c["x"](step)',
        "C.__call__.__kwdefaults__",
    ),
    "getitem closure": (
        "def make():\n    seen = []\n    class C:\n        def __getitem__(self, k):\n            seen.append(k); return 1\n        def n(self): return len(seen)\n    return C\nc = make()()\n",
        "c[step]",
        "c.n()",
    ),
    "local class attr": (
        "def make():\n    class C:\n        seen = []\n        def __getitem__(self, k):\n            self.seen.append(k); return 1\n    return C()\nc = make()\n",
        "c[step]",
        "c.seen",
    ),
    "local base attr": (
        "def make():\n    class B:\n        seen = []\n    class C(B):\n        def __getitem__(self, k):\n            self.seen.append(k); return 1\n    return C()\nc = make()\n",
        "c[step]",
        "c.seen",
    ),
    "metaclass attr": (
        "class M(type):\n    seen = []\n    def __getitem__(cls, k):\n        M.seen.append(k); return 1\nclass C(metaclass=M): pass\n",
        "C[step]",
        "M.seen",
    ),
    "local metaclass": (
        "def make():\n    class M(type):\n        seen = []\n        def __getitem__(cls, k):\n            cls.seen.append(k); return 1\n    class C(metaclass=M): pass\n    return C\nC = make()\n",
        "C[step]",
        "C.seen",
    ),
    "property closure": (
        "def make():\n    seen = []\n    def get(self):\n        seen.append(1); return len(seen)\n    return property(get), seen\np, _s = make()\nseen = lambda s=_s: len(s)\ndel _s\nclass C:\n    x = p\nc = C()\n",
        "c.x",
        "seen()",
    ),
    "descriptor": (
        "class D:\n    def __init__(self): self.seen = []\n    def __get__(self, o, t=None):\n        self.seen.append(1); return 1\nclass C:\n    x = D()\nc = C()\n",
        "c.x",
        'len(vars(C)["x"].seen)',
    ),
    "wraps": (
        "import functools\ndef deco(f):\n    seen = []\n    @functools.wraps(f)\n    def w(*a):\n        seen.append(a); return f(*a)\n    w.n = lambda: len(seen)\n    return w\n@deco\ndef f(v): return v\nH = [f]\n",
        "H[0](step)",
        "f.n()",
    ),
    "partial": (
        'import functools\ndef f(seen, v): seen.append(v)\ng = functools.partial(f, [])\nH = {"g": g}\n',
        'H["g"](step)',
        "g.args",
    ),
    "singledispatch": (
        "import functools\n@functools.singledispatch\ndef f(v, seen=[]): return 0\n@f.register\ndef _i(v: int, seen=[]):\n    seen.append(v)\ng = _i.__defaults__\nH = [f]\n",
        "H[0](step)",
        "g",
    ),
    "staticmethod": (
        "class C:\n    @staticmethod\n    def f(v, seen=[]):\n        seen.append(v)\nH = [C.f]\n",
        "H[0](step)",
        "C.f.__defaults__",
    ),
    "classmethod": (
        "class C:\n    @classmethod\n    def f(cls, v, seen=[]):\n        seen.append(v)\nH = [C.f]\n",
        "H[0](step)",
        "C.f.__func__.__defaults__",
    ),
    "boundmethod": (
        'class C:\n    def __init__(self): self.seen = []\n    def f(self, v): self.seen.append(v)\nH = {"a": C().f}\n',
        'H["a"](step)',
        'H["a"].__self__.seen',
    ),
    "lambda default": ('H = {"a": lambda v, seen=[]: seen.append(v)}\n', 'H["a"](step)', 'H["a"].__defaults__'),
    "enum member": (
        'import enum\nclass E(enum.Enum):\n    A = 1\n    def hit(self, v): self.__dict__.setdefault("seen", []).append(v)\nH = [E.A.hit]\n',
        "H[0](step)",
        'E.A.__dict__.get("seen")',
    ),
    "dataclass default": (
        "import dataclasses\n@dataclasses.dataclass\nclass C:\n    x: int = 0\n    seen = []\n    def __call__(self, v): self.seen.append(v)\nH = [C()]\n",
        "H[0](step)",
        "C.seen",
    ),
    "weakkey": (
        "import weakref\nclass C: pass\nc = C()\nT = weakref.WeakKeyDictionary(); T[c] = []\ndef f(v): T[c].append(v)\nH = [f]\n",
        "H[0](step)",
        "T[c]",
    ),
    "weakvalue": (
        'import weakref\nclass C: pass\nc = C(); c.seen = []\nT = weakref.WeakValueDictionary(); T["a"] = c\nH = {"f": lambda v: T["a"].seen.append(v)}\n',
        'H["f"](step)',
        "c.seen",
    ),
    "contextvar": (
        'import contextvars\nV = contextvars.ContextVar("V", default=[])\nH = {"f": lambda v: V.get().append(v)}\n',
        'H["f"](step)',
        "V.get()",
    ),
    "thread local": (
        'import threading\nL = threading.local(); L.seen = []\nH = {"f": lambda v: L.seen.append(v)}\n',
        'H["f"](step)',
        "L.seen",
    ),
    "builtins": ('import builtins\nbuiltins.seen_x = []\nH = {"f": lambda v: seen_x.append(v)}\n', 'H["f"](step)', "seen_x"),
    "sys attr": ('import sys\nsys.my_seen = []\nH = {"f": lambda v: sys.my_seen.append(v)}\n', 'H["f"](step)', "sys.my_seen"),
    "ordered": (
        'from collections import OrderedDict\no = OrderedDict(a=[])\nH = {"f": lambda v: o["a"].append(v)}\n',
        'H["f"](step)',
        'o["a"]',
    ),
    "chainmap": (
        'from collections import ChainMap\no = ChainMap({"a": []})\nH = {"f": lambda v: o["a"].append(v)}\n',
        'H["f"](step)',
        'o["a"]',
    ),
    "userdict": (
        'from collections import UserDict\no = UserDict(a=[])\nH = {"f": lambda v: o["a"].append(v)}\n',
        'H["f"](step)',
        'o["a"]',
    ),
    "mappingproxy": (
        'from types import MappingProxyType\no = MappingProxyType({"a": []})\nH = {"f": lambda v: o["a"].append(v)}\n',
        'H["f"](step)',
        'o["a"]',
    ),
    "namedtuple": (
        'from collections import namedtuple\no = namedtuple("T", "a")([])\nH = {"f": lambda v: o.a.append(v)}\n',
        'H["f"](step)',
        "o.a",
    ),
    "bytearray": ('o = bytearray()\nH = {"f": lambda v: o.append(v % 200)}\n', 'H["f"](step)', "len(o)"),
    "array": ('import array\no = array.array("i")\nH = {"f": lambda v: o.append(v)}\n', 'H["f"](step)', "len(o)"),
    "counter obj": ('import itertools\no = itertools.count()\nH = {"f": lambda v: next(o)}\n', 'H["f"](step)', "repr(o)"),
    "random obj": (
        'import random\no = random.Random(1)\nH = {"f": lambda v: o.random()}\n',
        'H["f"](step)',
        "o.getstate()[1][-1]",
    ),
    "heap": ('import heapq\no = []\nH = {"f": lambda v: heapq.heappush(o, -v)}\n', 'H["f"](step)', "o[:3]"),
    "cached_property": (
        'import functools\nclass C:\n    n = 0\n    @functools.cached_property\n    def x(self):\n        C.n += 1; return C.n\nH = {"f": lambda v: C().x}\n',
        'H["f"](step)',
        "C.n",
    ),
    "lru": (
        'import functools\nseen = []\n@functools.lru_cache(None)\ndef f(v):\n    seen.append(v); return v\nH = {"f": f}\n',
        'H["f"](step)',
        "seen",
    ),
    "memoryview": (
        'b = bytearray(4); o = memoryview(b); del b\nH = {"f": lambda v: o.__setitem__(0, v % 200)}\n',
        'H["f"](step)',
        "o[0]",
    ),
    "ctypes": ('import ctypes\no = (ctypes.c_int * 2)()\nH = {"f": lambda v: o.__setitem__(0, v)}\n', 'H["f"](step)', "o[0]"),
    "queue": ('import queue\no = queue.Queue()\nH = {"f": lambda v: o.put(v)}\n', 'H["f"](step)', "o.qsize()"),
    "deque": (
        'from collections import deque\no = deque(maxlen=5)\nH = {"f": lambda v: o.append(v)}\n',
        'H["f"](step)',
        "list(o)",
    ),
    "warnings": (
        'import warnings\nwarnings.simplefilter("ignore")\nH = {"f": lambda v: warnings.filters.insert(0, warnings.filters[0])}\n',
        'H["f"](step)',
        "len(warnings.filters)",
    ),
    "environ": ('import os\nH = {"f": lambda v: os.environ.__setitem__("XX", str(v))}\n', 'H["f"](step)', 'os.environ.get("XX")'),
    "decimal ctx": (
        'import decimal\nH = {"f": lambda v: setattr(decimal.getcontext(), "prec", 5 + v % 7)}\n',
        'H["f"](step)',
        "decimal.getcontext().prec",
    ),
    "logging level": (
        'import logging\nlg = logging.getLogger("a.b")\nH = {"f": lambda v: lg.setLevel(10 + v % 7)}\n',
        'H["f"](step)',
        "lg.level",
    ),
    "module dict in list": (
        'import types\nm = types.ModuleType("mm"); m.seen = []\nH = {"f": lambda v: m.seen.append(v)}\n',
        'H["f"](step)',
        "m.seen",
    ),
    "set of frozen": ('s = set()\nH = {"f": lambda v: s.add(v)}\n', 'H["f"](step)', "len(s)"),
    "exc attr": ('e = ValueError("x"); e.seen = []\nH = {"f": lambda v: e.seen.append(v)}\n', 'H["f"](step)', "e.seen"),
    "path obj": (
        'class P(str): pass\np = P("a"); p.seen = []\nH = {"f": lambda v: p.seen.append(v)}\n',
        'H["f"](step)',
        "p.seen",
    ),
    "int sub": ('class P(int): pass\np = P(1); p.seen = []\nH = {"f": lambda v: p.seen.append(v)}\n', 'H["f"](step)', "p.seen"),
    "tuple sub": (
        'class P(tuple): pass\np = P((1,)); p.seen = []\nH = {"f": lambda v: p.seen.append(v)}\n',
        'H["f"](step)',
        "p.seen",
    ),
    "generic alias": (
        'from typing import Generic, TypeVar\nT = TypeVar("T")\nclass G(Generic[T]):\n    seen = []\nH = {"f": lambda v: G[int].seen.append(v)}\n',
        'H["f"](step)',
        "G.seen",
    ),
    "simple ns": (
        'from types import SimpleNamespace\no = SimpleNamespace(a=[])\nH = {"f": lambda v: o.a.append(v)}\n',
        'H["f"](step)',
        "o.a",
    ),
    "coroutine": (
        'class A:\n    seen = []\nasync def co(v): A.seen.append(v)\ndef f(v):\n    try: co(v).send(None)\n    except StopIteration: pass\nH = {"f": f}\n',
        'H["f"](step)',
        "A.seen",
    ),
    "method fn attr": (
        'class C:\n    def f(self, v): C.f.n = getattr(C.f, "n", 0) + 1\nH = {"f": C().f}\n',
        'H["f"](step)',
        'getattr(C.f, "n", None)',
    ),
    "dict view": (
        'd = {"a": []}\nvw = d.values(); del d\nH = {"f": lambda v: next(iter(vw)).append(v)}\n',
        'H["f"](step)',
        "list(vw)",
    ),
    "stringio": ('import io\no = io.StringIO()\nH = {"f": lambda v: o.write(str(v))}\n', 'H["f"](step)', "len(o.getvalue())"),
    "exec globals": ('g = {"seen": []}\nexec("def f(v): seen.append(v)", g)\nH = {"f": g["f"]}\n', 'H["f"](step)', 'g["seen"]'),
}
WITH_LIBRARIES = {
    "an attribute of a tensor": (
        "import torch\nt = torch.zeros(1)\nt.seen = []\nH = {'f': lambda v: t.seen.append(v)}\n",
        "H['f'](step)",
        "t.seen",
    ),
    "an array of objects": (
        "import numpy as np\no = np.empty(1, dtype=object)\no[0] = []\nH = {'f': lambda v: o[0].append(v)}\n",
        "H['f'](step)",
        "o[0]",
    ),
    "an attribute of a module of torch": (
        "import torch\nnet = torch.nn.Linear(1, 1)\nnet.seen = []\nH = {'f': lambda v: net.seen.append(v)}\n",
        "H['f'](step)",
        "net.seen",
    ),
    "an attribute of a library": (
        "import json\njson.my_seen = []\nH = {'f': lambda v: json.my_seen.append(v)}\n",
        "H['f'](step)",
        "json.my_seen",
    ),
}


def _compare(workshop: Workshop, made: str, call: str, seen: str) -> None:
    text = f"import random, time\nrandom.seed(0)\n{made}" + LOOP.format(call=call, seen=seen)
    line = '    print("epoch", epoch)\n'
    _, done, truth = workshop.asked(text, text.replace(line, f'{line}    print("P", epoch, {seen})\n'))
    assert truth.count("\n") == 3
    assert done.out == truth and "exact: " in done.said, done.said


@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_call_hides_is_right(workshop: Workshop, name: str) -> None:
    _compare(workshop, *HIDDEN[name])


@pytest.mark.parametrize("name", WITH_LIBRARIES)
def test_what_a_call_hides_in_objects_of_libraries_is_right(workshop: Workshop, name: str) -> None:
    pytest.importorskip("torch")
    _compare(workshop, *WITH_LIBRARIES[name])


WRITERS = {
    "a table": "H = {'f': lambda v: log.write(str(v))}\n",
    "a generator": "def lines():\n    n = 0\n    while True:\n        log.write(str(n))\n        n += 1\n        yield n\nit = lines()\nH = {'f': lambda v: next(it)}\n",
    "a key": "def f(v):\n    log.write(str(v))\n    return v\nH = {'f': lambda v: sorted([v], key=f)}\n",
    "mapped": "def f(v):\n    log.write(str(v))\nT = [f]\nH = {'f': lambda v: list(map(T[0], [v]))}\n",
    "an operator": "class C:\n    def __eq__(self, other):\n        log.write(str(other))\n        return True\nc = C()\nH = {'f': lambda v: [v].count(c)}\n",
    "an object": "class C:\n    def __getitem__(self, v):\n        log.write(str(v))\nc = C()\nH = {'f': lambda v: c[v]}\n",
    "a default": "def f(v, log=log):\n    log.write(str(v))\nH = {'f': f}\n",
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_a_hidden_call_writes_to_is_no_exact_answer(workshop: Workshop, name: str) -> None:
    text = f"import time\nlog = open('log.txt', 'w')\n{WRITERS[name]}" + LOOP.format(call="H['f'](step)", seen="1")
    _, done, truth = workshop.asked(text, text + "print('P', log.tell(), len(open('log.txt').read()))\n")
    assert done.out == truth or "F504" in done.said, done.said
