"""Tells how long a process imports: on the `PYTHONPATH` of a benchmark's plain runs.

Seconds of the clock go to `$IMPORT_TIMES/<pid>` when the process ends. The outermost of nested imports are timed, in the main
thread, wherever they stand: at the top of a script, in its functions, or by `importlib.import_module`.
"""

import _frozen_importlib
import atexit
import os
import threading
import time
from typing import Any

_find_and_load = vars(_frozen_importlib)["_find_and_load"]
_spent = 0.0
_is_importing = False


def _timed(name: str, import_: Any) -> Any:
    """Python calls this for what is not in `sys.modules`."""
    global _spent, _is_importing
    if _is_importing or threading.current_thread() is not threading.main_thread():
        return _find_and_load(name, import_)
    _is_importing, begun = True, time.perf_counter()
    try:
        return _find_and_load(name, import_)
    finally:
        _spent += time.perf_counter() - begun
        _is_importing = False


def _tell(folder: str, process: int) -> None:
    if os.getpid() == process:  # a forked one does not tell
        with open(os.path.join(folder, str(process)), "w") as file:
            file.write(repr(_spent))


if "IMPORT_TIMES" in os.environ:
    vars(_frozen_importlib)["_find_and_load"] = _timed
    atexit.register(_tell, os.environ["IMPORT_TIMES"], os.getpid())
