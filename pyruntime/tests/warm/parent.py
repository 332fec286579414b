"""A process that has imported what scripts import and forks one child per command; started by `main.py`, shared by all processes of
the tests, each of which speaks to a child of it.

Importing torch takes seconds, and the tests start thousands of processes. A child is what `python script.py …` or `python -m florc
record …` would have been, up to these: the modules are imported before the script begins, two frames lie below it, and it was
not started by `exec`. So one case in 60 starts cold all the same (`warm.is_cold`), and what is about starting always does.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import json
import os
import signal
import socket
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

HELD: set[str] = set()
"""The modules of libraries, which are not taken apart."""
FRESH = ("__name__", "__doc__", "__package__", "__loader__", "__spec__", "__annotations__", "__builtins__")


def serve(words: list[str]) -> CodeType:
    """Answer requests; in a child, the code that it runs as `__main__`. `words`: the path of a socket, the modules to import, the
    process of the tests: this one ends after it."""
    path, names, tests = words[:3]
    atexit.register(_end_soon)  # the first that is registered is the last that is called
    with _only_the_standard_library_at_exit():
        for name in filter(None, names.split(",")):
            __import__(name)
    weakref.finalize._registry.clear()  # type: ignore[attr-defined]  # torch takes its operators apart
    HELD.update(name for name, module in sys.modules.items() if _is_installed(module))
    gc.freeze()  # a collection in a child looks at none of this: no page of it is copied
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{path}.new")
        door.listen()
        os.rename(f"{path}.new", path)  # it is there once it answers
        door.settimeout(2)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            try:
                visitor, _ = door.accept()
            except TimeoutError:
                if not os.path.exists(f"/proc/{tests}"):
                    os._exit(0)
                continue
            if os.fork() == 0:
                break
            visitor.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    visitor.setblocking(True)
    return _answer(visitor)


def _answer(requests: socket.socket) -> CodeType:
    """One child for each request of one process of tests."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 1 << 20, 3)
        if not message:
            os._exit(0)
        child = os.fork()
        if child == 0:
            requests.close()
            return _become(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        requests.sendall(f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        requests.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


@contextlib.contextmanager
def _only_the_standard_library_at_exit() -> Iterator[None]:
    """Leave out what torch registers for the end: it looks through all of its modules, for nothing."""
    register = atexit.register

    def only(function: Callable[..., Any], *args: Any, **named: Any) -> Callable[..., Any]:
        if function.__module__ in ("logging", "multiprocessing.util", "weakref"):
            register(function, *args, **named)
        return function

    atexit.register = only  # type: ignore[assignment]
    yield
    atexit.register = register


def _end_soon() -> None:
    """Leave out what takes apart the libraries (a second, for torch): their modules, their garbage, the destructors of their C++.
    The script's own globals are taken apart as ever; what of it is garbage in a cycle is not."""
    later = [name for name, module in list(sys.modules.items()) if name not in HELD and _is_of_a_library(module)]
    held = [sys.modules.pop(name, None) for name in (*HELD, *later)]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
    gc.freeze()
    libc = ctypes.CDLL(None)
    libc.on_exit(libc._exit, None)  # with the exit code that it is handed


def _is_of_a_library(module: object) -> bool:
    return _is_installed(module) and f"{os.sep}site-packages{os.sep}" in (module.__file__ or "")


def _is_installed(module: object) -> bool:
    path = getattr(module, "__file__", None) or ""
    return path.startswith((sys.prefix, sys.base_prefix)) and not module.__name__.startswith("florc")


def _become(request: dict[str, Any], descriptors: list[int]) -> CodeType:
    os.setsid()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    numpy = sys.modules.get("numpy")
    if numpy is not None:  # as at its import
        numpy.random.seed()
    for name in ("warm.parent", "warm"):
        sys.modules.pop(name, None)
    names = sys.modules["__main__"].__dict__
    for name in set(names).difference(FRESH):
        del names[name]
    names.update(__annotations__={}, __doc__=None)
    here = os.path.dirname(__file__)
    sys.path[:] = [path for path in sys.path if path not in (here, os.path.dirname(here))]
    sys.path[1:1] = [path for path in request["env"].get("PYTHONPATH", "").split(os.pathsep) if path]
    words = request["words"]
    if words[:2] == ["-m", "florc"]:
        return _florc(words[2:])
    return _script(words)


def _florc(words: list[str]) -> CodeType:
    """What `florc.process.start.again` leads to."""
    import florc

    own = os.path.dirname(os.path.abspath(florc.__file__ or ""))
    path = os.path.join(own, "__main__.py")
    os.environ["_FLORC_STARTED"] = f"={os.environ['PYTHONHASHSEED']}"
    sys.argv, sys.orig_argv = [path, *words], [sys.executable, path, *words]
    sys.path[0] = own
    sys.modules["__main__"].__dict__.update(__file__=path, __cached__=None)
    for name in [name for name in sys.modules if name.partition(".")[0] == "florc"]:
        del sys.modules[name]
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        with contextlib.suppress(OSError), open(os.path.join(folder, "sitecustomize.py"), encoding="utf-8") as file:
            exec(compile(file.read(), file.name, "exec"), {"__name__": "sitecustomize"})
    with open(path, encoding="utf-8") as file:
        return compile(file.read(), path, "exec")


def _script(words: list[str]) -> CodeType:
    """The interpreter's own function runs the file: with its `__file__`, its traceback, its exit code."""
    sys.argv, sys.orig_argv = list(words), [sys.executable, *words]
    sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    run = ctypes.pythonapi.PyRun_SimpleFileExFlags
    run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
    path = os.fsencode(os.path.abspath(words[0]))
    sys.__dict__["_warm"] = lambda: run(libc.fopen(path, b"rb"), path, 1, None)
    # the name is gone before the script runs
    return compile("raise SystemExit(1 if __import__('sys').__dict__.pop('_warm')() else 0)", "<warm>", "exec")
