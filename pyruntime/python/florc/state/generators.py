"""Random number generators: objects anywhere in the graph, and the global ones, which are in every checkpoint.

Nodes: `["rng", "python", version, leaf, gauss]`, `["rng", "torch", device, leaf]`,
`["rng", "bits" | "RandomState", class name, state]`, `["generator", bit generator]`; a bit generator made from a
`SeedSequence` also has that, as JSON: the next `spawn` counts on from there.
`state` is a numpy state dict: `["d", key, value, …]`, arrays in it as `["a", dtype, leaf]`.
"""

from __future__ import annotations

import array
import json
import random
import sys

from ..adapters import keras, twisters
from ..support.light import dumps, suppress
from ..support.static import name_of
from .atoms import decode
from .kind import Kind
from .kinds import RANDOM, CannotRestore, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .encode import Encoder
    from .kinds import Encode, Node
    from .match import Matcher
    from .restore import Restorer


def capture(enc: Encoder) -> list[Any]:
    """The global generators as `[[name, node], …]`: python, numpy, torch and Keras when imported, CUDA devices in use."""
    version, words, gauss = twisters.of_python()
    found: list[list[Any]] = [["python", ["rng", "python", version, enc.leaf(words), enc.value(gauss)]]]
    of_keras = keras.global_state()
    if of_keras is not None:  # first: what a restore makes of it may draw from the others
        found.insert(0, ["keras", ["rng", "keras", "", dumps(keras.read(of_keras))]])
    numpy = sys.modules.get("numpy")
    torch: Any = sys.modules.get("torch")
    legacy = getattr(getattr(numpy, "random", None), "get_state", None)
    if legacy is not None:
        found.append(["numpy", ["rng", "RandomState", "RandomState", _of_numpy(enc, numpy) or _pack(enc, legacy(legacy=False))]])
    if hasattr(torch, "default_generator"):
        found.append(["torch", encode_torch(enc, torch.default_generator)])
        if torch.cuda.is_initialized():
            for i, generator in enumerate(torch.cuda.default_generators):
                found.append([f"cuda:{i}", encode_torch(enc, generator)])
    return found


def _of_numpy(enc: Encoder, numpy: Any) -> Node | None:
    """The same as `_pack` makes of the dict."""
    state = twisters.of_numpy(numpy.random.mtrand._rand)
    if state is None:
        return None
    value = enc.value
    words = [
        "d",
        "key",
        ["a", "<u4" if sys.byteorder == "little" else ">u4", enc.leaf(state.words)],
        "pos",
        value(state.position),
    ]
    kept = ["has_gauss", value(state.has_gauss), "gauss", value(state.gauss)]
    return ["d", "bit_generator", value("MT19937"), "state", words, *kept]


def encode_python(enc: Encoder, generator: Any) -> Node:
    version, numbers, gauss = generator.getstate()
    return ["rng", "python", version, enc.leaf(array.array("I", numbers).tobytes()), enc.value(gauss)]


def encode_torch(enc: Encoder, generator: Any) -> Node:
    if generator.device.type != "cpu":
        enc.copy()
    state = generator.get_state()
    return [
        "rng",
        "torch",
        str(generator.device),
        enc.leaf(state.numpy().tobytes() if "numpy" in sys.modules else bytes(state.tolist())),
    ]


def encode_bits(enc: Encoder, bits: Any) -> Node:
    seeds = _seeds_of(bits)
    return ["rng", "bits", name_of(type(bits)), _pack(enc, bits.state), *([] if seeds is None else [_seeds_text(seeds)])]


def _seeds_of(bits: Any) -> Any:
    """What a bit generator was made from, if that can tell how often it was asked for children."""
    seeds = getattr(bits, "_seed_seq", None)
    return seeds if type(seeds) is sys.modules["numpy"].random.SeedSequence else None


def _seeds_text(seeds: Any) -> str:
    entropy = seeds.entropy
    words = entropy if type(entropy) is int else [int(word) for word in entropy]
    return dumps([words, list(map(int, seeds.spawn_key)), seeds.pool_size, seeds.n_children_spawned])


def _seeds(text: str) -> Any:
    entropy, spawn_key, pool_size, spawned = json.loads(text)
    sequence = sys.modules["numpy"].random.SeedSequence
    return sequence(entropy, spawn_key=tuple(spawn_key), pool_size=pool_size, n_children_spawned=spawned)


def encode_random_state(enc: Encoder, state: Any) -> Node:
    return ["rng", "RandomState", name_of(type(state)), _pack(enc, state.get_state(legacy=False))]


def encode_generator(enc: Encoder, generator: Any) -> Node:
    return ["generator", enc.value(generator.bit_generator)]


def _pack(enc: Encoder, state: Any) -> Any:
    if issubclass(type(state), dict):
        return ["d", *[part for key, item in state.items() for part in (key, _pack(enc, item))]]
    if hasattr(state, "dtype") and hasattr(state, "tobytes"):
        return ["a", state.dtype.str, enc.leaf(state.tobytes())]
    return enc.value(state)


def _unpack(r: Restorer, packed: Any) -> Any:
    if type(packed) is list and packed[0] == "d":
        return {key: _unpack(r, item) for key, item in zip(packed[1::2], packed[2::2])}
    if type(packed) is list and packed[0] == "a":
        numpy = sys.modules["numpy"]
        return numpy.frombuffer(r.leaf(packed[2]), dtype=packed[1]).copy()
    return decode(packed)


def _python_state(r: Restorer, node: Node) -> Any:
    numbers = array.array("I")
    numbers.frombytes(r.leaf(node[3]))
    return node[2], tuple(numbers), decode(node[4])


def _torch_state(r: Restorer, node: Node) -> Any:
    torch = sys.modules["torch"]
    return torch.frombuffer(bytearray(r.leaf(node[3])), dtype=torch.uint8)


def _set(r: Restorer, node: Node, generator: Any) -> None:
    if node[1] == "python":
        generator.setstate(_python_state(r, node))
    elif node[1] == "keras":
        keras.put(generator, *json.loads(node[3]))
    elif node[1] == "torch":
        generator.set_state(_torch_state(r, node))
    elif node[1] == "bits":
        generator.state = _unpack(r, node[3])
        seeds = _seeds_of(generator)
        if len(node) > 4 and seeds is not None and _seeds_text(seeds) != node[4]:
            seeds.__setstate__(_seeds(node[4]).__reduce__()[2])  # others may share it: in place, as unpickling does
    else:
        generator.set_state(_unpack(r, node[3]))


def global_generator(name: str) -> Any:
    """The live generator behind one name of `capture`, or None when its library or device is not here."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if name == "python":
        return random
    if name == "keras":
        return keras.global_state()
    if name == "numpy":
        return getattr(numpy, "random", None)
    if name == "torch":
        return getattr(torch, "default_generator", None)
    if torch is None or not torch.cuda.is_available() or int(name[5:]) >= torch.cuda.device_count():
        return None
    torch.cuda.init()
    return torch.cuda.default_generators[int(name[5:])]


def check_globals(recorded: list[Any]) -> None:
    """CannotRestore when a generator that was recorded is not here. A library that the block itself imported is imported now."""
    for name, _ in recorded:
        if name in ("numpy", "torch") and name not in sys.modules:
            from importlib import import_module

            with suppress(ImportError):
                import_module(name)
        if global_generator(name) is None:
            raise CannotRestore(f"{RANDOM}.{name}", "this generator does not exist here")


def set_globals(r: Restorer, recorded: list[Any]) -> None:
    for name, node in recorded:
        _set(r, node, global_generator(name))


_OF_NUMPY = frozenset({"MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "RandomState"})


class Rng(Kind):
    """A generator object, put into its recorded state after everything else is filled."""

    order = 3

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return type(live) is self._class(node) and (node[1] != "torch" or str(live.device) == node[2])

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        if self._class(node) is None:
            raise Refused(f"there is no generator {node[2]} here")

    @staticmethod
    def _class(node: Node) -> Any:
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        if node[1] == "python":
            return random.Random
        if node[1] == "torch":
            return getattr(torch, "Generator", None)
        return getattr(getattr(numpy, "random", None), node[2], None) if node[2] in _OF_NUMPY else None

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        cls = self._class(node)
        if node[1] == "python":
            return cls()
        return cls(node[2]) if node[1] == "torch" else cls(_seeds(node[4]) if len(node) > 4 else 0)

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        _set(r, node, obj)


class Generator(Kind):
    """numpy's Generator, a view of a bit generator that others may share."""

    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        numpy = sys.modules.get("numpy")
        if numpy is None or type(live) is not numpy.random.Generator:
            return False
        m.pair(node[1], live.bit_generator)
        return True

    def parts(self, node: Node) -> Iterable[Any]:
        return (node[1],)

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return sys.modules["numpy"].random.Generator(r.value(node[1]))

    def same(self, made: Any, live: Any) -> bool:
        return made.bit_generator is live.bit_generator


ENCODERS: dict[type, Encode] = {random.Random: encode_python}
KINDS = {"rng": Rng(), "generator": Generator()}
