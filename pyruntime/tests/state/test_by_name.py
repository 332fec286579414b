"""What another process has under the same name, or finds again: loggers, globals of libraries, addresses that Keras keeps, iterators."""

from __future__ import annotations

import logging
import random
import sys
import types
from typing import Any

import pytest
from florc.state import CannotRestore, differences, encode, leaf_bytes, restore

torch = pytest.importorskip("torch")


def put(state: Any, live: dict[str, Any]) -> Any:
    """A state in the place of what is live, and encoded again."""
    encoded = encode({"place": state})
    leaves = [bytes(leaf_bytes(leaf)) for leaf in encoded.leaves]
    found = restore(encoded.graph, leaves.__getitem__, {"place": live["place"]})
    live["place"] = found["place"]
    again = encode({"place": live["place"]})
    assert not differences(encoded.graph, leaves, again.graph, [bytes(leaf_bytes(leaf)) for leaf in again.leaves])
    return live["place"]


class Holder:
    """Any object."""


def holding(**attributes: Any) -> Holder:
    made = Holder()
    vars(made).update(attributes)
    return made


def test_a_logger_is_the_one_of_its_name() -> None:
    named, other = logging.getLogger("florc.tests.one"), logging.getLogger("florc.tests.other")
    restored = put([holding(log=named, root=logging.root)], {"place": []})
    assert restored[0].log is named and restored[0].root is logging.root
    assert put([holding(log=named)], {"place": [holding(log=other)]})[0].log is named
    with pytest.raises(CannotRestore):
        put([logging.Logger("florc.tests.nobody's")], {"place": []})


def test_globals_of_a_library_are_named_and_those_of_the_user_are_values() -> None:
    assert put([vars(torch.nn)], {"place": []})[0] is vars(torch.nn)
    own = types.ModuleType("florc_tests_module")
    own.__file__, own.number = "/home/somebody/own.py", 3
    sys.modules[own.__name__] = own
    try:
        own.__dict__.pop("__spec__"), own.__dict__.pop("__loader__")
        own.__dict__["__builtins__"] = None
        assert b'"globals"' not in encode({"place": vars(own)}).graph
    finally:
        del sys.modules[own.__name__]


def test_an_iterator_that_gave_all_is_at_its_end_elsewhere_too() -> None:
    loader = torch.utils.data.DataLoader(torch.arange(6), batch_size=2)
    spent = iter(loader)
    assert len(list(spent)) == 3
    restored = put([spent], {"place": []})[0]
    assert type(restored) is type(spent) and list(restored) == [] and next(restored, None) is None
    begun = iter(loader)
    next(begun)
    assert list(put([spent], {"place": [begun]})[0]) == []
    with pytest.raises(CannotRestore):
        put([iter(loader)], {"place": []})  # it draws when it begins


@pytest.fixture
def keras() -> Any:
    """The classes of Keras that keep addresses, by their names."""

    def module(name: str, **classes: type) -> None:
        made = types.ModuleType(name)
        for own, cls in classes.items():
            cls.__module__, cls.__qualname__ = name, own
            setattr(made, own, cls)
        sys.modules[name] = made

    class Tracker:
        def __init__(self, stores: dict[str, list[Any]]):
            self.config = {name: (None, store) for name, store in stores.items()}
            self.stored_ids = {name: {id(item) for item in store} for name, store in stores.items()}

    class BaseOptimizer:
        def __init__(self, variables: list[Any]):
            self._trainable_variables = variables
            self._trainable_variables_indices = {id(variable): index for index, variable in enumerate(variables)}

    names = ("keras.src.utils.tracking", "keras.src.optimizers.base_optimizer")
    before = {name: sys.modules.get(name) for name in names}
    module(names[0], Tracker=Tracker)
    module(names[1], BaseOptimizer=BaseOptimizer)
    yield types.SimpleNamespace(Tracker=Tracker, BaseOptimizer=BaseOptimizer)
    for name, there in before.items():
        if there is None:
            del sys.modules[name]
        else:
            sys.modules[name] = there


def test_addresses_are_those_of_this_process(keras: Any) -> None:
    first, second = holding(a=1), holding(a=2)
    state = [keras.Tracker({"layers": [first, second]}), keras.BaseOptimizer([first, second]), first, second]
    live = [keras.Tracker({"layers": [holding(a=5)]}), keras.BaseOptimizer([]), holding(a=5), holding(a=6)]
    for there in (live, []):
        tracker, optimizer, one, other = put(state, {"place": there})
        assert tracker.stored_ids == {"layers": {id(one), id(other)}} and (one.a, other.a) == (1, 2)
        assert optimizer._trainable_variables_indices == {id(one): 0, id(other): 1}
        assert one is not first
    state[1]._trainable_variables_indices = None  # until it is built
    assert put(state, {"place": []})[1]._trainable_variables_indices is None


def test_what_keras_keeps_for_the_whole_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The generator that draws where no seed is given, and the counts in names."""
    kept = types.ModuleType("keras.src.backend.common.global_state")
    kept.GLOBAL_STATE_TRACKER = types.SimpleNamespace()  # type: ignore[attr-defined]
    backend, seeds = types.ModuleType("keras.src.backend"), types.ModuleType("keras.src.random.seed_generator")
    backend.backend = lambda: "torch"  # type: ignore[attr-defined]

    def seed_generator() -> Any:
        made = types.SimpleNamespace(state=types.SimpleNamespace(value=torch.tensor([random.randrange(1000), 0])))
        kept.GLOBAL_STATE_TRACKER.global_seed_generator = made
        return made

    seeds.global_seed_generator = seed_generator  # type: ignore[attr-defined]
    for module in (kept, backend, seeds):
        monkeypatch.setitem(sys.modules, module.__name__, module)

    def now() -> Any:
        found = vars(kept.GLOBAL_STATE_TRACKER)
        seeds = found.get("global_seed_generator")
        return seeds and seeds.state.value.tolist(), dict(found.get("object_name_uids") or {})

    before = encode({"place": []})
    random.seed(1)
    kept.GLOBAL_STATE_TRACKER.object_name_uids = {"dense": 2}
    seed_generator().state.value[1] = 7
    then, encoded, drawn = now(), encode({"place": []}), random.getstate()
    leaves = [bytes(leaf_bytes(leaf)) for leaf in encoded.leaves]
    earlier = [bytes(leaf_bytes(leaf)) for leaf in before.leaves]
    found = differences(before.graph, earlier, encoded.graph, leaves)
    assert "$random.keras" in [difference.place for difference in found]
    for names, seeds_there in ((None, False), ({"dense": 9, "dropout": 1}, True)):
        vars(kept.GLOBAL_STATE_TRACKER).clear()
        if names is not None:
            kept.GLOBAL_STATE_TRACKER.object_name_uids = names
        if seeds_there:
            seed_generator()
        restore(encoded.graph, leaves.__getitem__, {"place": []})
        assert now() == then and random.getstate() == drawn
    restore(before.graph, earlier.__getitem__, {"place": []})
    assert now() == (None, {})
