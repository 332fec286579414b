"""Is an added statement side-effect free?

A statement that draws random numbers, moves `net` to evaluation or appends to a list of the script would have changed the run.
What a replay restores after it belongs to a run without it. So florc watches added statements, those side by side together:
they must leave everything as they found it.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from ... import _native, state
from ...adapters import twisters
from ...adapters.libraries import library_of
from ...runs.versions import Versions
from ...support import mishaps
from ...support.console import cell_of, place
from ...support.static import module_of, mro_of
from ...survey import readers, settings
from ...survey.limits import LIMITS
from ...survey.scopes import Reader, Scope
from ...survey.survey import Survey

Group = tuple[str, int, int]
"""File, first and last line."""


class _Before(NamedTuple):
    """What a group of added statements found."""

    group: Group
    generators: dict[str, Any]
    survey: Survey | None
    settings: dict[str, Any]


_SETTINGS = ("the current folder", "os.environ", "a setting of torch", "numpy.seterr")
"""Of the process (`survey.settings`), those that decide what the script does next. Libraries change others when they are
imported."""


class Looking:
    """Watches added statements."""

    def __init__(self, versions: Versions, files: set[str]):
        self.disturbances: list[str] = []
        self.raced: dict[Group, str] = {}
        """Statements that ran while something changed, which a thread of the script may have done, in words."""
        self._raised: dict[str, BaseException] = {}
        """What statements left behind before recorded state was restored, in words."""
        self._versions, self._files = versions, files
        self._groups: dict[str, dict[int, tuple[int, int]]] = {}
        self._before: _Before | None = None
        self._last = 0
        """The line of the last statement of the group that ran."""
        self._pending: list[str] = []
        """What earlier groups left behind. It does no harm as long as everything after them runs again."""
        self._left: list[str] = []
        """What the group has left behind so far."""
        self._told: set[Group] = set()
        self._times: dict[Group, int] = {}
        self._depth = 0
        self._spent = 0.0
        self._started = time.perf_counter()
        self._thread = threading.get_ident()

    @functools.cached_property
    def _reader(self) -> _Reader:
        """Made for the first added statement that runs: it reads every recorded file, and a replay may run none."""
        for text in self._versions.texts():
            settings.mention(text)
        return _Reader(self._files, self._versions)

    def is_running(self) -> bool:
        """Whether an added statement runs now, in this thread."""
        return self._depth > 0 and threading.get_ident() == self._thread

    def raises(self, name: str, error: BaseException) -> None:
        """An added statement raised."""
        group = self.group(*self._versions.probe_place(name))
        where = self._said(group, f"raises {type(error).__name__}, which the script catches")
        self._raised.setdefault(where, error)

    def caught(self, end: BaseException | None) -> list[str]:
        """What they raised without ending the script; `end`: what it ended with."""
        return [where for where, error in self._raised.items() if error is not end]

    def follows(self) -> None:
        """Recorded state is restored, which does not include what added statements left behind before."""
        self._close()
        self.disturbances += self._pending
        self._pending = []

    def _close(self) -> None:
        self._pending += self._left
        if self._left and self._before is not None:
            self._told.add(self._before.group)
        self._left, self._before = [], None

    def begin(self, name: str, frame: FrameType) -> bool:
        """An added statement begins. Returns whether to tell of its end: in another thread than the script's nobody watches."""
        if threading.get_ident() != self._thread:
            return False
        self._depth += 1
        if self._depth == 1:
            self._watch(name, self._begin, frame)
        return True

    def end(self, name: str, frame: FrameType) -> None:
        """It is over."""
        self._depth -= 1
        if self._depth == 0:
            self._watch(name, self._end, frame)

    def _watch(self, name: str, look: Callable[[str, FrameType], None], frame: FrameType) -> None:
        """An error of florc's here is not one of the added statement's: the verdict tells of it."""
        guard = state.deferred.guard
        looking = guard.lower()  # a survey compares the versions of tensors
        try:
            look(name, frame)
        except Exception as error:
            file, line = self._versions.probe_place(name)
            mishaps.swallowed(f"watching what was added, {place(file, line, is_short=True)}", error)
            self._before = None
        finally:
            guard.raise_again(looking)

    def _begin(self, name: str, frame: FrameType) -> None:
        file, line = self._versions.probe_place(name)
        group = self.group(file, line)
        goes_on = self._before is not None and self._before.group == group and line > self._last
        self._last = line
        if goes_on:
            return
        self._close()
        began = time.perf_counter()
        times = self._times[group] = self._times.get(group, 0) + 1
        is_surveyed = LIMITS.surveys_statements(times, self._spent, began - self._started)
        survey = Survey(frame, None, self._reader) if is_surveyed else None
        self._before = _Before(group, drawn_from(), survey, self._settings())
        self._spent += time.perf_counter() - began

    def _end(self, name: str, frame: FrameType) -> None:
        if self._before is None:
            return
        began = time.perf_counter()
        group, found, survey, set_before = self._before
        present = drawn_from()
        drawn = [name for name, state in present.items() if state != found.get(name, state)] if present != found else []
        changed = None if survey is None else survey.change(frame, None, None)
        left = [f"draws random numbers ({', '.join(drawn)}), so those that follow are not the recorded ones"] if drawn else []
        if changed is not None and _has_other_threads():
            self.raced.setdefault(group, self._said(group, f"ran while a thread of the script changed {changed}"))
            changed = None
        changed = changed or settings.changed(set_before, self._settings())
        left += [f"changes {changed}, and what follows finds it changed"] if changed else []
        self._left = [] if group in self._told else [self._said(group, what) for what in left]
        self._spent += time.perf_counter() - began

    def _settings(self) -> dict[str, Any]:
        _ = self._reader
        return settings.now(_SETTINGS)

    def _said(self, group: Group, what: str) -> str:
        file, first, last = group
        until = "" if first == last else f"-{cell_of(file, last)[1]}"
        where = ", ".join(filter(None, (place(file, first, is_short=True) + until, _native.loop_path())))
        return f"{where}: the added code {what}"

    def group(self, file: str, line: int) -> Group:
        """The added statements side by side, of which one is in this line."""
        if file not in self._groups:
            self._groups[file] = self._versions.groups(file)
        return (file, *self._groups[file].get(line, (line, line)))


def _has_other_threads() -> bool:
    """Whether code of the script runs in another thread now."""
    scripts, own = _native.scripts_modules(), threading.get_ident()
    for thread, running in sys._current_frames().items():
        frame: FrameType | None = running if thread != own else None
        while frame is not None:
            if frame.f_globals.get("__name__") in scripts:
                return True
            frame = frame.f_back
    return False


_WITHOUT_NAMES = {"list", "tuple", "deque", "dict", "set", "tensor"}
"""Ways to read objects whose parts have no names."""


class _Reader(Reader):
    """Looks at what the recorded script can name: what added statements keep for themselves is nobody else's. And at
    gradients, where the script has use for those that a block leaves behind. What names an added statement binds is told by its
    text (`versions`)."""

    leaves_own_names = True

    def __init__(self, files: set[str], versions: Versions):
        super().__init__(files)
        self._whole = Reader(files)
        self._recorded_names, added = versions.names()
        self._added = {f".{name}" for name in added}
        self._left = {f".{name}" for name in versions.left_by_forward()}
        self._with_gradients = versions.reads_gradients()

    def ways(self, kind: type) -> list[str]:
        if kind is functools._lru_cache_wrapper:
            return []  # whether it has been asked before makes no difference
        ways = super().ways(kind)
        return ["python"] if ways and not set(ways) <= _WITHOUT_NAMES or ways == ["tensor"] and self._with_gradients else ways

    def read(self, obj: Any) -> readers.Parts | None:
        found = self._whole.parts(obj)
        # A part that a module registered is the training's, also where only added statements name it: `net.weight`.
        own = self._left | _caches(type(obj)) | self._added.difference(readers.registered(obj))
        if found and own:
            found = {key: part for key, part in found.items() if key not in own}
        torch = sys.modules.get("torch")
        if self._with_gradients and torch is not None and isinstance(obj, torch.Tensor) and obj.is_leaf:
            gradient = obj.grad
            return {**(found or {}), ".grad": gradient, "(gradient)": readers.version(gradient)}
        return found

    def scopes(self, frame: FrameType, rebound: frozenset[str]) -> list[Scope]:
        known = self._recorded_names
        found = super().scopes(frame, rebound)
        return [scope._replace(names={k: v for k, v in scope.names.items() if k in known}) for scope in found]


def _caches(kind: type) -> set[str]:
    """Attributes in which a library keeps what it computed until the object changes: `metric.compute()`."""
    known = map(library_of, map(module_of, mro_of(kind)))
    return set().union(*(library.caches for library in known if library is not None))


def drawn_from() -> dict[str, Any]:
    """The states of the global random generators, for comparison."""
    found = {}
    for name, read in _GENERATORS.items():
        if name in sys.modules:
            try:
                found[name] = read()
            except Exception:  # a library that is only half imported
                continue
    return found


def _numpy() -> Any:
    numpy_random = sys.modules["numpy.random"]
    state = twisters.of_numpy(numpy_random.mtrand._rand)
    if state is not None:
        return state
    _, keys, *rest = numpy_random.get_state()
    return keys.tobytes(), rest


def _torch() -> Any:
    torch = sys.modules["torch"]
    on_device = torch.cuda.get_rng_state().numpy().tobytes() if torch.cuda.is_initialized() else b""
    return torch.default_generator.get_state().numpy().tobytes(), on_device


_GENERATORS: dict[str, Callable[[], Any]] = {"random": twisters.of_python, "numpy.random": _numpy, "torch": _torch}
