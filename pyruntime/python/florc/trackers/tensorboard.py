"""TensorBoard, as torch, tensorboard, Lightning, transformers and tensorboardX write it: `EventFileWriter` of a folder.

The script's own event files are in a replay's view. What added statements add goes to `event_files`, not to the writer.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from types import ModuleType
from typing import Any

from .watch import Watch, put


def adapt(module: ModuleType, watch: Watch) -> None:
    """Hear what a module defines of `EventFileWriter` and `SummaryWriter`."""
    for kind in (vars(module).get("EventFileWriter"), vars(module).get("SummaryWriter")):
        if isinstance(kind, type) and kind.__module__ == module.__name__:
            _adapt_events(kind, watch) if kind.__name__ == "EventFileWriter" else _adapt_writer(kind, watch)


def _adapt_events(kind: type, watch: Watch) -> None:
    def begin(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if not watch.is_added():
            watch.began("tb", folder=os.path.abspath(str(self.get_logdir())))

    def add(original: Any, self: Any, event: Any, *args: Any, **kwargs: Any) -> None:
        if not watch.is_added():
            original(self, event, *args, **kwargs)
            return
        folder = os.path.abspath(str(self.get_logdir()))
        what = event.WhichOneof("what")
        if what not in ("summary", "file_version"):  # with the latter each file begins
            watch.unsent(f"TensorBoard's {what or 'event'}, which has no step")
        # `add_hparams` makes a folder named by the time of day, of which the plugin reads each tag as it is
        parent, name = os.path.split(folder)
        run = {"folder": parent, "is_beside": True} if re.fullmatch(r"\d{9,}\.\d+", name) else {"folder": folder}
        for value in event.summary.value:
            tag, is_simple = value.tag, value.WhichOneof("value") == "simple_value"
            value.ClearField("tag")
            data = b64encode(value.SerializeToString()).decode()
            watch.take("tb", run, tag, value.simple_value if is_simple else None, event.step, data)

    put(kind, "__init__", begin)
    if watch.replays:
        put(kind, "add_event", add)


def _adapt_writer(kind: type, watch: Watch) -> None:
    """A writer without a folder makes one that the time of day names: a replay has that of the record."""

    def begin(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        given = [*args[:1], kwargs.get("log_dir"), kwargs.get("logdir")]
        if any(given):
            original(self, *args, **kwargs)
            return
        known = watch.expected("tb", "default")
        if known:
            args, kwargs = ((known["default"], *args[1:]), kwargs) if args else (args, {**kwargs, "log_dir": known["default"]})
        original(self, *args, **kwargs)
        if not watch.is_added():
            watch.began("tb", default=str(getattr(self, "log_dir", None) or self.logdir))

    put(kind, "__init__", begin)
