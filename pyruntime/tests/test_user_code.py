"""Recording runs none of the user's code: a class whose every special method counts its calls counts as many as in a plain run."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import florc
import pytest
from workshop import Workshop

COUNTED = '''
import collections, enum, time, types
calls = collections.Counter()
WHERE = False  # for whoever looks for a caller

def counting(name, default):
    def method(self, *args, **kwargs):
        calls[name] += 1
        if WHERE:
            import sys, traceback
            sys.stderr.write(name + " " + " < ".join(f"{f.filename.rsplit('/', 1)[-1]}:{f.lineno}" for f in reversed(traceback.extract_stack()[-6:-1])) + "\\n")
        return default(self, *args, **kwargs)
    return method

def special(base):
    """Every method of `base` that can be replaced, counted; and the special ones that objects may have."""
    names = {}
    for name in dir(base):
        kinds = (types.WrapperDescriptorType, types.MethodDescriptorType, types.FunctionType)
        if isinstance(getattr(base, name, None), kinds) and name not in SPARED:
            names[name] = counting(name, getattr(base, name))
    extra = {"__len__": lambda self: 3, "__bool__": lambda self: True, "__iter__": lambda self: iter((1, 2)),
             "__contains__": lambda self, x: True, "__getitem__": lambda self, i: 1, "__call__": lambda self, *a: 2,
             "__int__": lambda self: 1, "__float__": lambda self: 1.0, "__index__": lambda self: 1, "__enter__": lambda self: self,
             "__exit__": lambda self, *a: None, "__add__": lambda self, o: self, "__copy__": lambda self: self,
             "__deepcopy__": lambda self, memo: self, "__getstate__": lambda self: {}, "__setstate__": lambda self, s: None,
             "__reversed__": lambda self: iter(()), "__length_hint__": lambda self: 1, "__bytes__": lambda self: b"",
             "__fspath__": lambda self: "x", "__array__": lambda self, *a, **k: None, "__array_interface__": property(lambda self: calls.update(["__array_interface__"])),
             "__torch_function__": classmethod(lambda cls, *a, **k: calls.update(["__torch_function__"])),
             "__del__": lambda self: None}
    for name, default in extra.items():
        if name not in names and name not in SPARED:
            names[name] = counting(name, default) if callable(default) else default
    if "__getattr__" not in SPARED:
        def missing(self, name):
            calls["__getattr__"] += 1
            raise AttributeError(name)
        names["__getattr__"] = missing
    names["lazy"] = property(lambda self: calls.update(["property"]))
    names["__class__"] = property(lambda self: calls.update(["__class__"]) or type(self)) if CLASS else names.get("__class__", base.__class__)
    return names

SPARED = {"__new__", "__init__", "__init_subclass__", "__subclasshook__", "__class__", "__class_getitem__", "__prepare__",
          "__instancecheck__", "__subclasscheck__", "__del__", "__dir__"}
CLASS = False

class Meta(type):
    pass
for _name, _method in special(type).items():
    if _name not in ("__call__", "__getattribute__", "__setattr__", "__delattr__", "__class__", "__array_interface__", "lazy", "__torch_function__",
                     "__getstate__", "__reduce__", "__reduce_ex__", "__sizeof__", "__mro_entries__", "mro"):
        setattr(Meta, _name, _method)
def meta_get(cls, name):
    calls["meta.__getattribute__"] += 1
    return type.__getattribute__(cls, name)
Meta.__getattribute__ = meta_get

def make(name, base, **more):
    return types.new_class(name, (base,), more, lambda ns: ns.update(special(base), __module__=__name__))

Object = make("Object", object)
'''

PLACES = {
    "a global": "one = Object()\n",
    "an attribute": "class Net: pass\nnet = Net(); net.one = Object(); net.w = 0\n",
    "a list": "things = [Object(), [Object()]]\n",
    "values of a dict": "things = {'a': Object(), 1: (Object(),)}\n",
    "keys of a dict": "things = {Object(): 1}\n",
    "a set": "things = {Object(), frozenset([Object()])}\n",
    "a default": "def f(x=Object(), *, y=Object()): return x\n",
    "a closure": "def outer():\n    held = Object()\n    def inner(): return held\n    return inner\nf = outer()\n",
    "a class": "class Net:\n    one = Object()\n    w = 0\nnet = Net()\n",
    "slots": "class Net:\n    __slots__ = ('one', 'w')\nnet = Net(); net.one = Object(); net.w = 0\n",
    "a namespace": "import argparse, types\nargs = argparse.Namespace(one=Object()); ns = types.SimpleNamespace(one=Object())\n",
    "a dataclass": "import dataclasses\n@dataclasses.dataclass\nclass Config:\n    one: object\n    w: int = 0\nnet = Config(Object())\n",
    "a deque": "import collections\nthings = collections.deque([Object()]); more = collections.defaultdict(list, a=[Object()]); o = collections.OrderedDict(a=Object())\n",
    "a partial": "import functools\nf = functools.partial(print, Object())\n",
    "a method": "one = Object(); m = one.__len__\n",
    "an own dict": "Own = make('Own', dict)\nthings = Own(a=Object())\n",
    "an own list": "Own = make('Own', list)\nthings = Own([Object()])\n",
    "an own tuple": "Own = make('Own', tuple)\nthings = Own([Object()])\n",
    "an own int": "Own = make('Own', int)\nthings = [Own(3)]\n",
    "an own str": "Own = make('Own', str)\nthings = [Own('a')]\n",
    "an own float": "Own = make('Own', float)\nthings = [Own(1.5)]\n",
    "an own set": "Own = make('Own', set)\nthings = Own([1, 2])\n",
    "an own deque": "import collections\nOwn = make('Own', collections.deque)\nthings = Own([1, 2])\n",
    "an own exception": "Own = make('Own', ValueError)\nthings = [Own('x')]\n",
    "an own module": "import types, sys\nOwn = make('Own', types.ModuleType)\nsys.modules['own_module'] = own = Own('own_module')\n",
    "an own array": "import numpy as np\nOwn = make('Own', np.ndarray)\nthings = np.ndarray.view(np.zeros(3), Own)\n",
    "an own masked array": "import numpy as np\nOwn = make('Own', np.ma.MaskedArray)\nthings = [np.ma.array([1.0, 2.0], mask=[0, 1])]\n",
    "an own tensor": "import torch\nOwn = make('Own', torch.Tensor)\nthings = torch.zeros(3).as_subclass(Own)\n",
    "an own module of torch": "import torch\nBase = torch.nn.Linear\nown = [n for n in dir(Base) if callable(getattr(Base, n)) and n not in ('__init__', '__new__', '__class__', '__init_subclass__', '__subclasshook__', '__getattr__')]\nOwn = type('Own', (Base,), {n: counting(n, getattr(Base, n)) for n in own})\nthings = [Own(2, 2)]\n",
    "an own optimizer": "import torch\nBase = torch.optim.SGD\nown = [n for n in dir(Base) if isinstance(getattr(Base, n), (types.FunctionType, types.WrapperDescriptorType)) and n not in ('__init__', '__new__', '__getattribute__', '_patch_step_function', 'profile_hook_step')]\nOwn = type('Own', (Base,), {n: counting(n, getattr(Base, n)) for n in own})\nw = torch.zeros(2, requires_grad=True)\nthings = [Own([w], lr=0.1)]\n",
    "an own generator": "import random\nOwn = make('Own', random.Random)\nthings = [Own(1)]\n",
    "an own buffer": "import io\nOwn = make('Own', io.StringIO)\nthings = [Own('text')]\nraw = make('Raw', io.BytesIO)(b'x')\n",
    "a metaclass": "class Net(metaclass=Meta):\n    w = 0\nnet = Net(); net.w = 1; nets = [Net(), Net]\n",
    "what runs over it": "class Data:\n    one = Object()\n    def __iter__(self): return iter([1, 2, 3])\nloader = Data()\n",
    "an enum": "import enum\nclass Kind(enum.Enum):\n    A = Object()\n    @property\n    def name(self): calls['name'] += 1; return 'A'\nkinds = [Kind.A]\n",
    "a mock": "from unittest import mock\nnet = mock.MagicMock(); net.mode = 3\nclass Holder: pass\nh = Holder(); h.m = mock.Mock()\n",
    "a lazy config": "class Lazy:\n    def __init__(self): self.__dict__['d'] = {'a': 1}\n    def __getattr__(self, name): calls['lazy ' + name] += 1; return Lazy()\nnet = Lazy(); net.w = 0\n",
    "a weak reference": "import weakref\none = Object(); r = weakref.ref(one); p = weakref.proxy(one)\n",
    "an iterator of its own": "class It:\n    def __iter__(self): return self\n    def __next__(self): calls['__next__'] += 1; return 1\n    def __length_hint__(self): calls['hint'] += 1; return 3\nit = It()\n",
    "a descriptor": "class D:\n    def __get__(self, obj, kind=None): calls['__get__'] += 1; return 1\n    def __set__(self, obj, value): calls['__set__'] += 1\nclass Net:\n    d = D(); w = 0\nnet = Net()\n",
    "an abstract class": "import abc\nclass Base(abc.ABC):\n    @classmethod\n    def __subclasshook__(cls, other): calls['hook'] += 1; return NotImplemented\n    @abc.abstractmethod\n    def f(self): ...\nclass Net(Base):\n    w = 0\n    def f(self): pass\nnet = Net()\n",
    "class told otherwise": "CLASS = True\nOther = make('Other', object)\nthings = [Other()]; net = Other(); object.__setattr__(net, 'w', 1)\n",
}
LOOP = """
made = dict(calls)
class Model:
    def __init__(self): self.w = 0; self.seen = None
model = Model()
for epoch in range(3):
    for step in range(3):
        model.w += step
        USE
        time.sleep(0.004)
    print(epoch, model.w)
print(sorted((k, v) for k, v in (calls - collections.Counter(made)).items()))
"""
USES = {"held": "model.seen = THING", "beside": "pass", "looped": "last = THING"}


@pytest.mark.parametrize("place", PLACES)
def test_no_special_method_is_called(place: str, workshop: Workshop) -> None:
    setup = PLACES[place]
    names = [
        name
        for name in ("things", "net", "one", "loader", "kinds", "it", "f", "own")
        if any(f"{before}{name} =" in f"\n{setup}" for before in ("\n", "; ")) or f"\ndef {name}(" in f"\n{setup}"
    ]
    name = names[0] if names else "None"
    text = COUNTED + setup
    for use in USES.values():
        text += LOOP.replace("USE", use.replace("THING", name))
    workshop.write("train.py", textwrap.dedent(text))
    plain = workshop.plain("train.py")
    assert plain.code == 0, plain.err
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert (recorded.out, recorded.err, recorded.code) == (plain.out, plain.err, plain.code)
    assert "inside florc" not in recorded.said, recorded.said


def test_an_environment_behind_a_link_shows_no_module_of_florc(workshop: Workshop) -> None:
    """Python resolves the folder that it puts on `sys.path`."""
    linked = workshop.path / "linked"
    linked.symlink_to(Path(florc.__file__).resolve().parent.parent)
    workshop.write("train.py", "import sys\nprint([path for path in sys.path if path.endswith('florc')])\n")
    command = [sys.executable, "-m", "florc", "record", "train.py"]
    environment = {**workshop.environment(), "PYTHONPATH": str(linked)}
    done = subprocess.run(command, cwd=workshop.path, env=environment, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stdout + done.stderr
