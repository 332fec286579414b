"""`florc ui`: serve the page until Ctrl-C."""

from __future__ import annotations

import html
import os
import signal
import sys
import tempfile
import webbrowser
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

from ..project.script import Unusable
from ..runs import catalog
from ..runs.run import store_path
from ..support.console import answer, say
from .server import Server

if TYPE_CHECKING:
    from ..support import arguments as given


def run_ui(arguments: given.Ui) -> int:
    """`florc ui`. Raises Unusable where there is no such run, or where the port is taken."""
    store = store_path()
    run = None if arguments["run"] is None else catalog.named(store, arguments["run"]).id
    try:
        server = Server(store, arguments["port"])
    except (OSError, OverflowError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise Unusable("F101", f"--port {arguments['port']}: {why}; leave it out, and florc takes a free one") from None
    signal.signal(signal.SIGTERM, _end)
    url = server.url + (f"#run={run}" if run else "")
    with server:
        answer(f"{url}\n")
        say("the page is for whoever has this address, on this machine only; Ctrl-C ends it")
        leading = _leading_to(url) if arguments["open"] and _has_screen() else None
        try:
            if leading is not None:
                webbrowser.open(f"file://{leading}")
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            pass
        finally:
            if leading is not None:
                with suppress(OSError):
                    os.unlink(leading)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            server.warm.close()
    sys.stdout.flush()
    return 0


def _leading_to(url: str) -> str | None:
    """A file of this user's alone that leads a browser to the page: everybody on the machine sees the words that a browser is
    started with. None where there is no place for it."""
    try:
        descriptor, path = tempfile.mkstemp(".html", "florc-ui-", os.environ.get("XDG_RUNTIME_DIR") or None)
    except OSError:
        return None
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={html.escape(url)}">')
    return path


def _has_screen() -> bool:
    """Whether a browser can open a window: one that runs in the terminal would take it from florc."""
    return sys.platform != "linux" or bool({"DISPLAY", "WAYLAND_DISPLAY"}.intersection(os.environ))


def _end(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
