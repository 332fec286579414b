"""The user's files: which are theirs, where imports find them, how each is compiled."""

from __future__ import annotations

import _frozen_importlib_external as machinery  # `importlib.machinery`, without the rest of that package
import _imp
import io
import os
import site
import sys
import time
from types import CodeType

from .. import _native
from ..support import regular
from ..support.light import OWN
from . import installed
from .script import SPAWNED, Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Compile = Callable[[str, str, str], CodeType]
    """(text, file name, name of the module) -> code object."""

MAIN = "__main__"
_MARKERS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
"""What lies in the root folder of a project."""
_LEVELS = 3
"""How far above the script a project's root is looked for."""
PYTEST = "_pytest.assertion.rewrite"
RUNNERS = ("runpy", PYTEST)
"""Modules that compile files of the user themselves (`runners`)."""


def decode(data: bytes) -> str:
    """A Python file as text, whatever its encoding; newlines become LF. Raises SyntaxError or UnicodeDecodeError."""
    if b"coding" not in b"".join(data.split(b"\n", 2)[:2]) and not data.startswith(b"\xef\xbb\xbf"):
        try:
            return io.IncrementalNewlineDecoder(None, True).decode(data.decode())
        except UnicodeDecodeError:
            pass  # said as Python says it
    from importlib.util import decode_source  # takes long to import, and so does what it imports

    return decode_source(data)


class Territory:
    """Which files are the user's: those below the project's folder that belong to no installed library, and those of the package
    whose command or module is run, if that was installed from a folder or a repository (`installed`)."""

    def __init__(self, script: Script, folder: str | None = None):
        """`folder`: where the script was started; here, if it is not given. A script of an environment (`bin/my-train`, which
        installing a package makes) and a module of a library (`python -m pytest`) work for the project there."""
        folder = os.getcwd() if folder is None else folder
        beside = os.path.dirname(os.path.realpath(script.path))
        self._foreign = [os.path.join(os.path.realpath(path), "") for path in _library_folders()]
        root, self._own = _root_of(beside), tuple[str, ...]()
        if any(os.path.join(beside, "").startswith(path) for path in (*self._foreign, *_script_folders())):
            here = os.path.realpath(folder)
            root = _root_of(here) if root == beside and here not in (_home(), os.path.sep) else root
            self._own = tuple(installed.own_package([path for path in sys.path if path], _top_of(script)))
        self._root = os.path.join(root, "")
        self._real: dict[str, str] = {}
        """Folder -> the folder without links."""
        self._owned: dict[str, bool] = {}
        self._installed: set[str] = set()
        """Files of libraries inside the project: `pip install --target`."""
        first = folder if script.module not in (None, SPAWNED) else beside
        self._folders = [first, *(path for path in sys.path[1:] if path and self.owns_folder(path))]
        for path in map(os.path.realpath, self._folders):
            for files in installed.modules(path, is_own=False):
                self._installed.update(os.path.join(path, *file.split("/")) for file in files)
        self._folders += sorted({os.path.dirname(path.rstrip(os.path.sep)) for path in self._own})
        self._found: dict[str, tuple[str, bool] | None] = {}

    def owns(self, file: str) -> bool:
        """Whether a file belongs to the project."""
        folder, name = os.path.split(file)
        if os.path.islink(file):
            real = os.path.realpath(file)
        else:
            # a script that imports torch asks of two thousand files in some hundred folders
            if folder not in self._real:
                self._real[folder] = os.path.realpath(folder)
            real = os.path.join(self._real[folder], name)
        is_inside = real.startswith(self._root) and not any(real.startswith(folder) for folder in self._foreign)
        return is_inside and real not in self._installed or real.startswith(self._own)

    def find(self, dotted: str) -> tuple[str, bool, str] | None:
        """A module of the project, as an import finds it, without running anything: path, whether it is a package, text.

        None for libraries; raises SyntaxError, UnicodeDecodeError or OSError for a file that cannot be read as text.
        """
        if dotted not in self._found:
            self._found[dotted] = self._look_for(dotted)
        found = self._found[dotted]
        if found is None:
            return None
        path, is_package = found
        return path, is_package, decode(regular.read(path, follow=True))

    def _look_for(self, dotted: str) -> tuple[str, bool] | None:
        # pytest, for one, adds to the path before it imports tests
        later = (folder for folder in sys.path if folder and folder not in self._folders and self.owns_folder(folder))
        for folder in (*self._folders, *later):
            base = os.path.join(folder, *dotted.split("."))
            for path, is_package in ((os.path.join(base, "__init__.py"), True), (base + ".py", False)):
                if os.path.isfile(path):
                    return (path, is_package) if self.owns(path) else None
        return None

    def owns_folder(self, path: str) -> bool:
        """Whether modules in a folder of `sys.path` are the project's."""
        if path not in self._owned:
            self._owned[path] = self.owns(os.path.join(path, ""))
        return self._owned[path]


def analyse(script: Script, territory: Territory) -> _native.Project:
    """The script and what it imports, for the compiler. A script that the compiler cannot read is left out."""
    found = _native.Project(territory.find)
    if script.module == SPAWNED:  # it imports the script as a module
        return found
    try:
        found.add(MAIN, package_of(script), script.path, script.text)
    except SyntaxError:
        pass  # said when it is compiled
    return found


def instrument(project: _native.Project, module: str, package: str, file: str, text: str) -> _native.Instrumented | None:
    """A file of a project (`_native.Project`), instrumented; it is added where it is not known yet, or was written since.
    Raises SyntaxError when the compiler cannot read it."""
    if project.text(file) != text:
        project.add(module, package, file, text)
    return project.instrument(file)


def instrument_library(project: _native.Project, module: str, file: str, text: str) -> _native.Instrumented | None:
    """A file of a library in which loops are followed, instrumented. Raises SyntaxError when the compiler cannot read it."""
    if project.library_text(file) != text:
        project.add_library(module, package_of_module(module, file), file, text)
    return project.instrument(file)


def package_of(script: Script) -> str:
    """The package whose modules the script's relative imports name: `python -m package.script` has one."""
    return script.module.rpartition(".")[0] if script.module else ""


def package_of_module(module: str, file: str) -> str:
    """The package of an imported module."""
    return module if os.path.basename(file) == "__init__.py" else module.rpartition(".")[0]


class ProjectFinder(machinery.PathFinder):
    """Compiles the project's modules with `compile_text`; leaves all others to Python."""

    def __init__(
        self,
        territory: Territory,
        compile_text: Compile,
        compile_library: Compile,
        charge: Callable[[float], None] = lambda _: None,
    ):
        """`compile_library`: for files of libraries in which loops are followed. `charge`: told the seconds that florc takes of
        each import."""
        self._territory, self._compile, self._charge = territory, compile_text, charge
        self._compile_library = compile_library
        self._missing: set[str] = set()
        """Modules that are in no folder: Accelerate asks for some in each step. Only the user's folders are looked at again."""
        if PYTEST in sys.modules:  # `-m pytest`: Python imports a package to find what is in it
            from . import runners

            runners.Change(territory, compile_text).of(PYTEST, vars(sys.modules[PYTEST]))

    def find_spec(  # type: ignore[override]  # bound to the finder, not static
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of the project, with the loader that compiles it."""
        if fullname in RUNNERS:
            return self._runner(fullname, path)
        if path is None and (_imp.is_builtin(fullname) or _imp.is_frozen(fullname)):
            return None  # Python's own finders are asked before the path is: `time.py` beside the script is never found
        begun = time.perf_counter()
        if fullname in self._missing and not self._is_in_own_folder(fullname, sys.path if path is None else path):
            self._charge(time.perf_counter() - begun)
            return None
        spec = super().find_spec(fullname, path, target)
        if spec is not None:
            begun = time.perf_counter()  # else Python searches once more
        elif _native.followed(fullname) is None:
            self._missing.add(fullname)
        is_source = spec is not None and type(spec.loader) is machinery.SourceFileLoader
        if spec is None or not is_source or not spec.origin or not self._territory.owns(spec.origin):
            left = self._timed(self._followed(self._left(spec, fullname, path, target), fullname))
            self._charge(time.perf_counter() - begun)
            return left
        spec.loader = _Loader(fullname, spec.origin, self._compile)
        return spec

    def _is_in_own_folder(self, fullname: str, path: Sequence[str]) -> bool:
        """Whether a module that was in no folder is in one of the user's now. Python itself looks in all of them."""
        own = [folder for folder in path if issubclass(type(folder), str) and self._territory.owns_folder(folder)]
        return super().find_spec(fullname, own) is not None

    def _followed(self, spec: ModuleSpec | None, fullname: str) -> ModuleSpec | None:
        known = _native.followed(fullname)
        if known is not None and spec is not None and spec.origin and type(spec.loader) is machinery.SourceFileLoader:
            if is_tried(known):
                spec.loader = _Loader(fullname, spec.origin, self._compile_library)
        return spec

    def _runner(self, fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
        spec = super().find_spec(fullname, path)
        if spec is not None and spec.origin and type(spec.loader) is machinery.SourceFileLoader:
            if not self._territory.owns(spec.origin):
                from . import runners

                spec.loader = runners.Loader(fullname, spec.origin, self._territory, self._compile)
        return spec

    @staticmethod
    def _timed(spec: ModuleSpec | None) -> ModuleSpec | None:
        _native.time_import(spec)
        return spec

    def _left(self, spec: ModuleSpec | None, *asked: Any) -> ModuleSpec | None:
        """A module of a library, which is not ours to find. The finders that are asked before Python's are asked here, and then
        Python would find the very same: to search twice takes a tenth of the time of importing torch."""
        numbers = list(map(id, sys.meta_path))
        others = sys.meta_path[numbers.index(id(self)) + 1 :] if id(self) in numbers else []
        for finder in others:
            if finder is machinery.PathFinder:
                return spec
            if not hasattr(finder, "find_spec"):
                break
            found = finder.find_spec(*asked)
            if found is not None:
                return found
        return None


untried: set[str] = set()
"""Libraries that are imported in versions whose loops are not followed, in words."""


def is_tried(known: tuple[str, str, str]) -> bool:
    """Whether the loops of a library are followed in the version that is installed. `known`: its distribution, the first
    version that this was tried with, and the first that it was not (`_native.followed`)."""
    from importlib.metadata import PackageNotFoundError, version

    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(".") if part.isdecimal()]

    try:
        found = version(known[0])
    except PackageNotFoundError:
        return False
    if numbers(known[1]) <= numbers(found) < numbers(known[2]):
        return True
    untried.add(f"{known[0]} {found} (from {known[1]} to before {known[2]} they are)")
    return False


class _Loader(machinery.SourceFileLoader):
    """Never reads or writes a `.pyc`: instrumented code must not be found by a plain run."""

    def __init__(self, fullname: str, path: str, compile_text: Compile):
        super().__init__(fullname, path)
        self._compile = compile_text

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self._compile(decode(self.get_data(path)), path, fullname)


def _root_of(folder: str) -> str:
    """The project's root: the nearest folder above with a mark of one, else the script's own. Never a home folder."""
    at, home = folder, _home()
    for _ in range(_LEVELS):
        if any(os.path.exists(os.path.join(at, marker)) for marker in _MARKERS):
            return at
        above = os.path.dirname(at)
        if above in (at, home):
            break
        at = above
    return folder


def _top_of(script: Script) -> str:
    """The package of a module that is run, or that a command of an environment begins with (`from mine.cli import main`)."""
    import re

    if script.module is not None:
        return script.module.partition(".")[0]
    found = re.search(r"^(?:from|import) (?!sys\b|re\b)(\w+)", script.text, re.MULTILINE)
    return found[1] if found is not None else ""


def _home() -> str:
    return os.path.realpath(os.path.expanduser("~"))


def _script_folders() -> list[str]:
    """Where installing a package puts the commands that it brings."""
    name = "Scripts" if sys.platform == "win32" else "bin"
    places = [sys.prefix, sys.exec_prefix, sys.base_prefix]
    if site.ENABLE_USER_SITE:
        places.append(site.getuserbase())
    return [os.path.join(os.path.realpath(os.path.join(prefix, name)), "") for prefix in places]


def _library_folders() -> list[str]:
    """Where Python's own modules and installed ones are: what `sysconfig.get_paths()` names, which takes long to import."""
    own = os.path.dirname(OWN)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    paths = {own, os.path.dirname(own), os.path.dirname(os.path.abspath(os.__file__)), *site.getsitepackages()}
    paths.update(
        os.path.join(prefix, sys.platlibdir, version)
        for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    )
    if site.ENABLE_USER_SITE:
        paths.add(site.getusersitepackages())
    return [path for path in paths if path and path != sys.prefix]
