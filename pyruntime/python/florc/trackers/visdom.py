"""Visdom. What a script draws goes to a server, so a replay's view does not hold it back: on replay the server gets nothing, and
florc answers in its place. What the script writes with `log_to_filename` is in the view. What added statements draw is told of,
and not sent."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

from .watch import Watch, put

_DRAWS = ("events", "update")


def adapt(module: ModuleType, watch: Watch) -> None:
    """Hear what a client is given."""

    def draw(original: Any, *args: Any, **kwargs: Any) -> Any:
        known = {} if watch.is_added() else watch.expected("visdom", "window")
        window = known.get("window") or original(*args, **kwargs)
        if not watch.is_added():
            watch.began("visdom", window=window)
        return window

    put(module, "get_rand_id", draw)  # the time: the name of a window that the script does not name
    if watch.replays:
        server = _Server(watch)
        put(module.Visdom, "_send", server.send)
        put(module.Visdom, "_handle_post", server.answer)
        put(module.Visdom, "setup_socket", server.connect)
        put(module.Visdom, "setup_polling", server.connect)


class _Server:
    """Answers as the server would."""

    def __init__(self, watch: Watch):
        self._watch = watch
        self._windows: dict[str, set[str]] = {}
        """By environment."""

    def send(self, original: Any, client: Any, msg: dict[str, Any], endpoint: str = "events", *args: Any, **kwargs: Any) -> Any:
        """What an added statement sends is told of, and gets the answer alone."""
        if not self._watch.is_added() or not client.send:
            return original(client, msg, endpoint, *args, **kwargs)
        if endpoint in _DRAWS:
            self._watch.unsent(f"what is drawn with Visdom ({_what(msg)})")
            return msg.get("win") or True
        if endpoint.startswith("env") or endpoint in ("win_exists", "win_hash"):
            return self._answered(endpoint, {"eid": client.env, **msg})
        self._watch.unsent(f"Visdom's {endpoint}")
        return True

    def answer(self, _: Any, client: Any, url: str, data: Any = None) -> str:
        """In the place of a request."""
        return self._answered(url.rpartition(f"{client.port}{client.base_url}/")[2], json.loads(data) if data else {})

    def connect(self, _: Any, client: Any) -> None:
        """In the place of the thread that hears the server."""
        client.socket_alive = client.socket_connection_achieved = True

    def _answered(self, endpoint: str, message: dict[str, Any]) -> str:
        environment, window = message.get("eid") or "main", message.get("win")
        windows = self._windows.setdefault(environment, set())
        if endpoint in _DRAWS:
            windows.add(str(window))
            return str(window)
        if endpoint == "win_exists":
            return "true" if window in windows else "false"
        if endpoint == "env_state":
            return json.dumps(list(self._windows))
        if endpoint == "close":
            windows.intersection_update(windows - {window} if window else ())
        elif endpoint == "delete_env":
            del self._windows[environment]
        return "" if endpoint != "save" else json.dumps(message.get("data"))


def _what(message: dict[str, Any]) -> str:
    data = message.get("data") or [{}]
    kind = data[0].get("type", "window") if isinstance(data, list) and isinstance(data[0], dict) else "window"
    return str((message.get("opts") or {}).get("title") or message.get("win") or kind)
