"""The state that a run starts from: the hash seed, and every global random generator as it first appears.

Half of all training scripts never seed. What they draw is then decided here, so it is part of the record: a replay
starts from the same state, and an unseeded script replays exactly.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import json
import os
import random
import subprocess
import sys
from typing import Any, Callable, Dict, Optional

HASH_SEED = "PYTHONHASHSEED"
_MARK = "_FLORC_HASH_SEED_SET"


def with_hash_seed(seed: Optional[str] = None) -> str:
    """The hash seed of this process. Where it is not fixed, or is not `seed`: start this command again with it fixed.

    The seed of a process cannot be read when Python drew it itself.
    """
    present = os.environ.get(HASH_SEED)
    wanted = seed or (present if present and present != "random" else str(int.from_bytes(os.urandom(4), "little")))
    if present == wanted or os.environ.pop(_MARK, None):
        return wanted
    environment = {**os.environ, HASH_SEED: wanted, _MARK: "1"}
    main = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *flags, main, *sys.argv[1:]], environment)
    raise AssertionError("execve does not return")


class Generators:
    """The first states of the global generators: kept when recording, put back when replaying."""

    def __init__(self, kept: Callable[[str, str], None], recorded: Optional[Dict[str, str]] = None):
        self._kept = kept
        self._recorded = recorded or {}
        self._meet("random", _python_state, _set_python_state)
        for module, get, put in (("numpy.random", _numpy_state, _set_numpy_state),
                                 ("torch", _torch_state, _set_torch_state)):
            if module in sys.modules:
                self._meet(module, get, put)
            else:
                sys.meta_path.insert(0, AfterImport(module, lambda m=module, g=get, p=put: self._meet(m, g, p)))

    def _meet(self, name: str, get: Callable[[], Any], put: Callable[[Any], None]) -> None:
        if name in self._recorded:
            put(json.loads(self._recorded[name]))
        else:
            self._kept(name, json.dumps(get()))


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls back once, right after a module was imported."""

    def __init__(self, name: str, call: Callable[[], None]):
        self.name, self.call = name, call

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            self.call()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _python_state() -> Any:
    version, internal, gauss = random.getstate()
    return [version, list(internal), gauss]


def _set_python_state(state: Any) -> None:
    random.setstate((state[0], tuple(state[1]), state[2]))


def _numpy_state() -> Any:
    name, keys, position, has_gauss, cached = sys.modules["numpy.random"].get_state()
    return [name, [int(key) for key in keys], int(position), int(has_gauss), float(cached)]


def _set_numpy_state(state: Any) -> None:
    sys.modules["numpy.random"].set_state(tuple(state))


def _torch_state() -> Any:
    torch = sys.modules["torch"]
    return {"generator": bytes(torch.get_rng_state().tolist()).hex(), "threads": torch.get_num_threads()}


def _set_torch_state(state: Any) -> None:
    """The number of threads decides in which order floats are added: it is part of where a run starts from."""
    torch = sys.modules["torch"]
    torch.set_rng_state(torch.tensor(list(bytes.fromhex(state["generator"])), dtype=torch.uint8))
    if torch.get_num_threads() != state["threads"]:
        torch.set_num_threads(state["threads"])
