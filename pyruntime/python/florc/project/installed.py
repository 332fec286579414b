"""What installing distributions put into a folder, as their records say (PEP 376, PEP 610).

The user's own package may be installed, too: `pip install .` and `pip install git+…` leave a `direct_url.json` beside its record;
distributions from an index have none."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_INFO = ".dist-info"
_OWN = ('"dir_info"', '"vcs_info"')
"""In `direct_url.json`, of a distribution that was installed from a folder or a repository."""


def modules(folder: str, is_own: bool) -> Iterator[list[str]]:
    """The files of modules that each distribution put into a folder, relative to it, with `/`: of those that were installed from
    a folder or a repository (`is_own`), or of all others. None where the folder cannot be listed."""
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return
    for name in names:
        if name.endswith(_INFO):
            url = _text(os.path.join(folder, name, "direct_url.json"))
            if any(words in url for words in _OWN) is is_own:
                record = _text(os.path.join(folder, name, "RECORD")).splitlines()
                files = (line.split(",", 1)[0].strip('"').replace("\\", "/") for line in record)
                yield [file for file in files if file.endswith(".py") and not file.startswith(("/", ".."))]


def own_package(folders: list[str], top: str) -> list[str]:
    """The packages and modules that the user's own distribution with a module `top` put into one of these folders, as paths; with
    a separator at the end of packages."""
    for folder in folders:
        for files in modules(folder, is_own=True):
            tops = {file.split("/", 1)[0] + (os.path.sep if "/" in file else "") for file in files}
            if top + os.path.sep in tops or f"{top}.py" in tops:
                return [os.path.join(os.path.realpath(folder), name) for name in sorted(tops)]
    return []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
