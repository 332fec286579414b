"""Tensors of an optimizer's state that a restored block left, and that are read from the checkpoint when they are first needed.

Between two restored epochs nobody looks at Adam's moments: the next restore replaces them. So a large tensor is put on a list
instead of being filled when nothing but `optimizer.state` leads to it: in the checkpoint (`candidates`), and in the running
program, which is proven by counting references (`_is_alone`). Whoever asks the optimizer for its state first has everything
filled (`Guard`).
"""

from __future__ import annotations

import operator
import os
import sys
import threading
import weakref
from typing import NamedTuple

from . import tensors
from .guard import Guard
from .kinds import is_ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .. import _native
    from .kinds import Node
    from .restore import Leaves

LEAST_BYTES = 64 << 10
"""Smaller tensors are filled at once: to prove that one may wait takes as long as reading so much."""


class Candidate(NamedTuple):
    """The way to a tensor: `optimizer.state[parameter][name]`. Numbers of nodes, and encoded keys."""

    optimizer: int
    state: int
    parameter: Any
    held: int
    """The dict of the parameter."""
    name: Any


class Waiting(NamedTuple):
    """A tensor, its node, and the leaves that hold what it holds. `memory`: where that goes as it is; None on a device."""

    tensor: Any
    node: Node
    leaves: Leaves
    memory: _native.MemoryLeaf | None


def candidates(document: dict[str, Any]) -> dict[int, Candidate]:
    """The nodes of large tensors to which only the state of an optimizer leads, as far as the checkpoint tells."""
    nodes: list[Node] = document["nodes"]
    found: dict[int, Candidate] = {}
    for number, node in enumerate(nodes):
        state = _attribute(node, "state") if node[0] == "object" and _attribute(node, "param_groups") is not None else None
        if state is None or nodes[state][0] not in ("dict", "defaultdict"):
            continue
        for parameter, held in zip(nodes[state][1][0::2], nodes[state][1][1::2]):
            if is_ref(held) and nodes[held[0]][0] == "dict":
                for name, value in zip(nodes[held[0]][1][0::2], nodes[held[0]][1][1::2]):
                    if is_ref(value) and _is_large(document, nodes[value[0]]):
                        found[value[0]] = Candidate(number, state, parameter, held[0], name)
    if not found:
        return {}
    times = [0] * len(nodes)
    for number in _references(document):
        times[number] += 1
    shared = {number for group in document["shared"] for number, _ in group}
    leaves = [0] * len(document["leaves"])
    for node in nodes:
        if node[0] == "tensor" and node[1] is not None:
            leaves[node[1]] += 1
    return {
        number: way
        for number, way in found.items()
        if times[number] == times[way.state] == times[way.held] == 1 and number not in shared and leaves[nodes[number][1]] == 1
    }


def _attribute(node: Node, name: str) -> int | None:
    for key, value in zip(node[3][0::2], node[3][1::2]):
        if key == name and is_ref(value):
            return int(value[0])
    return None


def _is_large(document: dict[str, Any], node: Node) -> bool:
    """A plain tensor: no parameter, without history, gradient and attributes."""
    is_plain = node[0] == "tensor" and node[1] is not None and node[6] == "" and not any(node[7:10])
    return is_plain and document["leaves"][node[1]] >= LEAST_BYTES


def _references(document: dict[str, Any]) -> Iterator[int]:
    """The node numbers that a graph refers to. What merely looks like a reference counts as well: then a tensor does not wait."""
    work: list[Any] = [document["places"], document["owners"], document["$random"]]
    for node in document["nodes"]:
        # the shape of a tensor is no reference
        work.append([node[8], node[9]] if node[0] == "tensor" else node[1:])
    count = len(document["nodes"])
    while work:
        value = work.pop()
        if type(value) is dict:
            value = list(value.values())
        if type(value) is not list:
            continue
        if len(value) == 1 and type(value[0]) is int:
            if 0 <= value[0] < count:
                yield value[0]
        else:
            work += [part for part in value if type(part) in (list, dict)]


class Deferred:
    """What waits. There is one for the process: its guard stands at a class."""

    def __init__(self) -> None:
        self._waiting: dict[int, Waiting] = {}
        self._lock = threading.RLock()
        self._is_hooked = False
        self.guard = Guard(self.flush)
        self.on_damage: Callable[[Exception], None] | None = None
        """Called when a tensor that is needed now cannot be read. It must not return."""
        self.waited = 0
        """How many tensors have waited so far."""
        self.filled = 0
        """How many of them were needed."""

    def flush(self) -> None:
        """Fill everything that waits."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
            try:
                _fill(waiting.values())
                self.filled += len(waiting)
            except Exception as error:
                if self.on_damage is not None:
                    self.on_damage(error)
                raise
            finally:
                self.guard.take_down()

    def holds(self, obj: Any) -> bool:
        """Whether an object is held here, because it waits."""
        return id(obj) in self._waiting

    def memory(self) -> list[tuple[int, int]]:
        """The memory that is not filled yet: address and bytes."""
        return [(one.memory.address, one.memory.nbytes) for one in self._waiting.values() if one.memory is not None]

    def replace(self, filled: list[Any]) -> None:
        """These tensors get their whole content from another checkpoint: they wait no more. Whatever leads to others that wait is
        not in that checkpoint, as it would be with its content."""
        with self._lock:
            for tensor in filled:
                self._waiting.pop(id(tensor), None)

    def add(self, optimizer: Any, of_parameter: Any, key: Any, node: Node, leaves: Leaves) -> bool:
        """Let the tensor `optimizer.state[of_parameter][key]` wait, if nobody can get hold of it unnoticed. The caller holds
        neither the tensor nor the dicts. `node`: the tensor's, whose leaf is one of `leaves`."""
        with self._lock:  # another thread that asks meanwhile comes after
            if not self.guard.watch(optimizer) or not self._is_own(optimizer):
                return False
            attributes = self.guard.attributes(optimizer)
            if not _is_alone(attributes, of_parameter, key):
                return False
            if not self._is_hooked:
                self._is_hooked = True
                os.register_at_fork(before=self.flush)
            tensor = attributes["state"][of_parameter][key]
            self._waiting[id(tensor)] = Waiting(tensor, node, leaves, tensors.memory_for(node, tensor))
            self.waited += 1
            return True

    def _is_own(self, optimizer: Any) -> bool:
        """Whether nobody holds the dict of an optimizer's attributes itself."""
        base: Any = sys.modules["torch"].optim.Optimizer
        new = object.__new__(base)
        object.__setattr__(new, "state", None)
        return self._holders(optimizer) == self._holders(new)

    def _holders(self, optimizer: Any) -> int:
        return sys.getrefcount(self.guard.attributes(optimizer))


def _fill(waiting: Iterable[Waiting]) -> None:
    """Give tensors the values that they have had since they were restored: autograd counted the change then, and counts none now.
    On the host no function of torch is called: the user's code may watch these."""
    together: dict[int, tuple[Leaves, list[tuple[int, _native.MemoryLeaf, int]]]] = {}
    for one in waiting:
        if one.memory is not None:
            _, wanted = together.setdefault(id(one.leaves), (one.leaves, []))
            wanted.append((one.node[1], one.memory, id(one.tensor)))
        else:
            tensors.copy(one.node, one.leaves(one.node[1]), one.tensor.data)
    for leaves, wanted in together.values():
        leaves.fill(wanted)


def _is_alone(attributes: dict[str, Any], of_parameter: Any, key: Any) -> bool:
    """Whether one reference each leads to the state, to the dict of a parameter in it, and to a tensor there, and none past it:
    compared with what the same look shows of new objects, to which nothing else can lead."""
    torch: Any = sys.modules["torch"]
    tensor = attributes["state"][of_parameter][key]
    fresh = torch.empty(1, dtype=tensor.dtype, device=tensor.device)
    new = {"state": {0: {0: fresh}}}
    if type(tensor) is not torch.Tensor or tensor._base is not None or tensor.requires_grad or tensor.grad_fn is not None:
        return False
    if weakref.getweakrefcount(tensor) or tensor.__dict__ or (tensor.device.type == "cpu" and tensor.is_shared()):
        return False
    if tensor.device.type != "cpu" and any(group.get("capturable") for group in attributes.get("param_groups", ())):
        return False  # a CUDA graph knows its address
    if tensor.untyped_storage().nbytes() != tensor.numel() * tensor.element_size() or _uses(tensor) != _uses(fresh):
        return False
    del tensor, fresh
    return _counts(attributes, of_parameter, key) == _counts(new, 0, 0)


def _uses(tensor: Any) -> tuple[int, ...]:
    """How many owners native code counts of a tensor and of its memory, and Python of the object that stands for that memory."""
    torch: Any = sys.modules["torch"]
    storage = tensor.untyped_storage()  # the same object each time
    held = sys.getrefcount(storage), weakref.getweakrefcount(storage)
    return tensor._use_count(), torch._C._storage_Use_Count(storage._cdata), *held


def can_be_counted() -> bool:
    """Whether this torch has the functions that count owners."""
    torch: Any = sys.modules.get("torch")
    wanted = ("Tensor._use_count", "_C._storage_Use_Count", "autograd.graph.increment_version")
    try:
        return all(map(operator.attrgetter(*wanted), [torch]))
    except AttributeError:
        return False


def _counts(attributes: dict[str, Any], of_parameter: Any, key: Any) -> tuple[int, ...]:
    count = sys.getrefcount
    return (count(attributes["state"]), count(attributes["state"][of_parameter]), count(attributes["state"][of_parameter][key]))


deferred = Deferred()
