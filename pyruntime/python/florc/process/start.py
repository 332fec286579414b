"""The process that a run starts in, and the state it starts from: the hash seed, and every global random generator as it
first appears.

Half of all training scripts never seed. What they draw is then decided here, so it is part of the record: a replay
starts from the same state, and an unseeded script replays exactly.
"""

from __future__ import annotations

import os
import sys

from ..support.light import OWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

HASH_SEED = "PYTHONHASHSEED"
STARTED = "_FLORC_STARTED"
"""Marks a process that florc started for a script: its value is what HASH_SEED was before, after a `=`, or nothing."""

MAIN = os.path.join(OWN, "__main__.py")
"""What florc runs as."""

_before: str | None = os.environ.pop(STARTED, None)


SPAWNED = "_FLORC_SPAWNED"
"""Of a process that `torch.multiprocessing.spawn` started (JSON): where its store is, which script started it, which of how many
ranks it is; while recording also the pipe, whether it is sent open files, and the pipe of the resource tracker."""

spawned: dict[str, Any] | None = None
if SPAWNED in os.environ:
    import json

    spawned = json.loads(os.environ.pop(SPAWNED))


def is_own_process() -> bool:
    """Whether florc started this process for a script."""
    return _before is not None


def environment(seed: str | None = None, given: dict[str, str] | None = None) -> dict[str, str]:
    """The environment of such a process; its hash seed is `seed`, else the one that is set, else a new one."""
    env = dict(os.environ if given is None else given)
    present = env.get(HASH_SEED)
    # a process that starts itself once more hands on what was there before the first
    if spawned is not None:
        import json

        env.setdefault(SPAWNED, json.dumps(spawned))
    env[STARTED] = _before if _before is not None else "" if present is None else f"={present}"
    env[HASH_SEED] = seed or (present if present and present != "random" else str(int.from_bytes(os.urandom(4), "little")))
    return env


def command(*words: str) -> list[str]:
    """The command line of such a process."""
    return [sys.executable, *flags(), MAIN, *words]


def flags() -> list[str]:
    """The options of Python itself that this process was started with."""
    plain = not (sys.warnoptions or sys._xoptions) and not any(
        getattr(sys.flags, name)
        for name in (
            "debug",
            "inspect",
            "optimize",
            "no_user_site",
            "no_site",
            "ignore_environment",
            "verbose",
            "bytes_warning",
            "quiet",
            "isolated",
            "dev_mode",
        )
    )
    unbuffered = ["-u"] if getattr(sys.stdout, "write_through", False) else []
    if plain:
        known = (("-B", "dont_write_bytecode"), ("-P", "safe_path"))
        return [*unbuffered, *(option for option, name in known if getattr(sys.flags, name, False))]
    import subprocess

    known = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # typeshed lists no private names
    rest = iter(known)  # of the options after -X it knows only some
    plain_flags = [word for word in rest if word != "-X" or not next(rest)]
    options = [part for key, value in sys._xoptions.items() for part in ("-X", key if value is True else f"{key}={value}")]
    return [*unbuffered, *plain_flags, *options]


def _flush() -> None:
    """Write out what was printed so far: this process is about to be replaced."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # None where the descriptor was closed
            pass


def again(seed: str | None = None) -> NoReturn:
    """Go on with this command in a process of its own."""
    _flush()
    os.execve(sys.executable, command(*sys.argv[1:]), environment(seed))
    raise AssertionError("execve does not return")


def plainly(words: list[str], why: str) -> NoReturn:
    """Go on as `python words…`, as if florc were not there, and say why. Nothing may have been read from standard input yet."""
    from ..support.console import say

    if spawned is None:
        say(f"nothing is recorded: {why}", always=True, code="F401")
    else:
        from .spawned import plain_words as of_spawned

        words = of_spawned(spawned)
    env = dict(os.environ)
    if _before is not None:
        env.pop(HASH_SEED, None)
        if _before:
            env[HASH_SEED] = _before[1:]
    _flush()
    os.execve(sys.executable, [sys.executable, *flags(), *words], env)
    raise AssertionError("execve does not return")


_WITH_VALUE = ("--name", "--overhead", "--checkpoint", "--engine", "--max-disk", "--max-staging")


def own_words(words: list[str]) -> list[str]:
    """The options of florc that stand between `record` and what is recorded, as they were given."""
    return _options(words[words.index("record") + 1 :])


def _options(words: list[str]) -> list[str]:
    """The options that words begin with, and their values."""
    left = list(words)
    while left and left[0].startswith("-") and left[0] not in ("-", "--") and not left[0].startswith(("-m", "--module")):
        del left[: 1 + (left[0] in _WITH_VALUE)]
    return words[: len(words) - len(left)]


def plain_words(words: list[str]) -> list[str]:
    """What follows `florc record` without its options: for when they could not be read otherwise. A test asserts that the
    options with a value are those of the command line."""
    left = words[len(_options(words)) :]
    if left and left[0].startswith("--module"):
        return ["-m", *(left[0].split("=", 1)[1:]), *left[1:]]
    return left[left[:1] == ["--"] :]


def with_hash_seed(seed: str | None = None) -> str:
    """The hash seed of this process. Where it is not florc's own, or its seed is not `seed`: start this command again.

    The seed of a process cannot be read when Python drew it itself. Raises Unusable where it cannot be fixed.
    """
    from ..project.script import Unusable

    if sys.flags.ignore_environment:
        raise Unusable(
            "F302", "Python runs with -E or -I, so it ignores PYTHONHASHSEED, and another run would order sets differently"
        )
    present = os.environ.get(HASH_SEED)
    if not is_own_process() or not present or seed not in (None, present):
        again(seed)
    return present


_put_back: set[str] = set()
"""The generators whose recorded states this process, or the one that it was forked from, has put back."""


class Generators:
    """The first states of the global generators: kept when recording, put back when replaying."""

    def __init__(self, kept: Callable[[str, str], None], recorded: dict[str, str] | None = None):
        self._kept = kept
        self._recorded = {name: state for name, state in (recorded or {}).items() if name not in _put_back}
        self._finders: list[AfterImport] = []
        for module, get, put in (
            ("random", _python_state, _set_python_state),
            ("numpy.random", _numpy_state, _set_numpy_state),
            ("torch", _torch_state, _set_torch_state),
        ):
            if module in sys.modules:
                self._meet(module, get, put)
            else:
                self._finders.append(AfterImport(module, self._meets(module, get, put)))
                sys.meta_path.insert(0, self._finders[-1])

    def _meets(self, name: str, get: Callable[[], Any], put: Callable[[Any], None]) -> Callable[[], None]:
        return lambda: self._meet(name, get, put)

    def _meet(self, name: str, get: Callable[[], Any], put: Callable[[Any], None]) -> None:
        if name in self._recorded:
            import json

            put(json.loads(self._recorded[name]))
            _put_back.add(name)
        elif name not in _put_back:
            from ..support.light import dumps

            self._kept(name, dumps(get()))

    def leave(self) -> None:
        """Meet no more of them."""
        for finder in self._finders:
            if finder in sys.meta_path:
                sys.meta_path.remove(finder)


def after_import(module: str, call: Callable[[], None]) -> None:
    """Call this when a module has been imported: now, or right after that."""
    if module in sys.modules:
        call()
    else:
        sys.meta_path.insert(0, AfterImport(module, call))


class AfterImport:
    """Calls back once, right after a module was imported."""

    def __init__(self, name: str, call: Callable[[], None]):
        self.name, self.call = name, call

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """The module's own spec, as the other finders have it."""
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        asked = (getattr(finder, "find_spec", None) for finder in [*sys.meta_path])
        spec = next((found for find in asked if find is not None and (found := find(fullname, path, target)) is not None), None)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            self.call()

        spec.loader.exec_module = exec_module  # of this one loader alone
        return spec


def _python_state() -> Any:
    version, internal, gauss = sys.modules["random"].getstate()
    return [version, list(internal), gauss]


def _set_python_state(state: Any) -> None:
    sys.modules["random"].setstate((state[0], tuple(state[1]), state[2]))


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
