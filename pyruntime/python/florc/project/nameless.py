"""Instrumented code that runs here finds florc without a name of the file's: `globals()` and `dir()` show the user's names only.

What `florc instrument` prints imports florc itself. In a process of florc's, the name stands among the builtins instead, where
the text has a word for lists of names, and that line is a comment: no line and no column changes. Elsewhere the import stays, so
that code that a library pickles and runs in another process (joblib, dill) finds florc there.
"""

from __future__ import annotations

import sys

from ..apart import OWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .. import _native

_IMPORT = "import florc as _florc"
"""What an instrumented text begins with, behind its docstring and future imports. No text of the user's has the name."""


_LISTS = ("globals", "locals", "vars(", "dir(", "__dict__", "f_back", "modules[")
"""Ways to the names of a file."""


def text_to_run(emitted: _native.Instrumented) -> str:
    """An instrumented text without its import of florc; its name is a builtin from now on."""
    text = emitted.text
    if not any(word in text for word in _LISTS):
        return text
    at = 0 if text.startswith(_IMPORT) else text.find(f"\n{_IMPORT}") + 1
    end = at + len(_IMPORT)
    while text[end : end + 1].isdigit():  # `_florc2`, where the text mentions `_florc`
        end += 1
    if not text.startswith(_IMPORT, at) or text[end : end + 1] not in ("\n", "\r", ""):
        return text
    name = text[at:end].rpartition(" ")[2]
    for builtins in (sys.modules["builtins"].__dict__, OWN):  # code that florc itself executes has florc's own
        builtins[name] = sys.modules["florc"]
    return f"{text[:at]}#{text[at + 1 :]}"
