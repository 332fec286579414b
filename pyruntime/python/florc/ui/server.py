"""The server of the page: on the loopback interface only, and only for whoever knows its address, which holds a token."""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from .. import _native
from ..project.script import Unusable
from .facts import Facts
from .warm import Warm

HOST = "127.0.0.1"
_LONGEST = 1 << 16
"""Bytes of a question."""
_SAFE = {
    "Content-Security-Policy": "; ".join(
        ["default-src 'self'", "object-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", "": "text/plain"}
_STATIC = os.path.join(os.path.dirname(__file__), "static")


def static_files() -> dict[str, str]:
    """What of the page can be asked for: names as in its addresses, and paths. Nothing else is read for a request."""
    found = {}
    for folder, _, names in os.walk(_STATIC):
        for name in names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, _STATIC).replace(os.sep, "/")] = path
    return found


def in_json(found: Any) -> bytes:
    """For browsers, whose JSON has no numbers that are not finite: these become the texts that Python has for them."""
    try:
        return json.dumps(found, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_finite(found)).encode()


def _finite(found: Any) -> Any:
    if isinstance(found, float) and not math.isfinite(found):
        return str(found)
    if isinstance(found, dict):
        return {name: _finite(value) for name, value in found.items()}
    return [_finite(value) for value in found] if isinstance(found, (list, tuple)) else found


class Server(ThreadingHTTPServer):
    """Serves the runs of a store. `port`: 0 for any free one. Raises OSError where that is taken."""

    daemon_threads = True

    def __init__(self, store: str, port: int = 0):
        self.token = secrets.token_urlsafe(24)
        self.facts, self.warm, self.files = Facts(store), Warm(store), static_files()
        super().__init__((HOST, port), Handler)

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser that was given the address says it asks. Another name is one that somebody let point here."""
        return f"{HOST}:{self.server_port}", f"localhost:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of an answer is no error."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "florc", ""
    timeout = 300

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: addresses hold the token."""

    def do_GET(self) -> None:
        """The page, and what it shows."""
        name = self._allowed()
        if name is None:
            return
        if name.startswith("api/"):
            self._tell(name[4:])
            return
        path = self.server.files.get(name or "index.html")
        if path is None:
            self._refuse(404, "there is no such page")
            return
        with open(path, "rb") as file:
            kind = _KINDS.get(os.path.splitext(path)[1], "application/octet-stream")
            self._send(200, file.read(), f"{kind}; charset=utf-8")

    def do_POST(self) -> None:
        """A question."""
        name = self._allowed()
        if name is None:
            return
        if name not in ("api/ask", "api/forecast", "api/stop"):
            self._refuse(404, "there is no such page")
            return
        question = self._question()
        if question is None:
            return
        run = question.get("run")
        if not isinstance(run, str):
            self._refuse(400, "a question is about a run")
        elif name == "api/stop":
            self._send_json({"stopped": self.server.warm.stop(run)})
        elif name == "api/ask":
            self._stream(self.server.warm.ask(self.server.facts, run, question))
        else:
            self._send_json(self.server.warm.forecast(self.server.facts, run, question))

    def _other(self) -> None:
        self.close_connection = True
        self._refuse(405, "only GET, and POST for questions")

    do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _other

    def _allowed(self) -> str | None:
        """What is asked for, below the token; None where nothing is given, which was said then."""
        if self.headers.get("Host", "") not in self.server.hosts:
            self._refuse(403, "the address of this page is not this one")
            return None
        token, slash, name = unquote(urlsplit(self.path).path).removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()) or not slash:
            self._refuse(403, "the address is that which florc ui printed, with its token")
            return None
        return name

    def _question(self) -> dict[str, Any] | None:
        """What was posted; None where it is not from the page, which was said then."""
        origin = self.headers.get("Origin")
        length = self.headers.get("Content-Length", "")
        if origin is not None and origin not in [f"http://{host}" for host in self.server.hosts]:
            self._refuse(403, "only the page asks")
        elif self.headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
            self._refuse(415, "questions are JSON")
        elif not length.isdecimal() or int(length) > _LONGEST:
            self._refuse(413, "the question is too long")
        else:
            try:
                found = json.loads(self.rfile.read(int(length)))
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, dict):
                return found
            self._refuse(400, "the question cannot be read")
        return None

    def _tell(self, name: str) -> None:
        query = {word: given[-1] for word, given in parse_qs(urlsplit(self.path).query).items()}
        tell = self.server.facts.answers.get(name)
        if tell is None:
            self._refuse(404, "there is no such page")
            return
        try:
            self._send_json(tell(query))
        except Unusable as error:
            self._refuse(404, f"{error} [{error.code}]" if error.code else str(error))
        except _native.StoreError as error:
            self._refuse(500, f"{error} [F205]")

    def _refuse(self, status: int, why: str) -> None:
        if self.command == "POST":
            self.close_connection = True  # what was posted is not read
        self._send(status, in_json({"error": why}), "application/json")

    def _send_json(self, found: Any) -> None:
        self._send(200, in_json(found), "application/json")

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self._begin(status, kind)
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _begin(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in _SAFE.items():
            self.send_header(name, value)

    def _stream(self, events: Iterable[dict[str, Any]]) -> None:
        """Lines of JSON, each as it comes. A page that goes away ends the question."""
        self._begin(200, "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        found: Iterator[dict[str, Any]] = iter(events)
        try:
            for event in found:
                data = in_json(event) + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
        finally:
            close = getattr(found, "close", None)
            if close is not None:
                close()
