"""What the standard library hides in its objects, changed through a class or a callback: a survey sees it, and the block runs again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "replay"))
from harness import Trial

CHANGED = {
    "WeakSet": ("weakref.WeakSet()", "held.add(one)", "len(held)"),
    "WeakKeyDictionary": ("weakref.WeakKeyDictionary()", "held[one] = step", "sorted(held.values())"),
    "WeakValueDictionary": ("weakref.WeakValueDictionary()", "held[step % 3] = one", "len(held)"),
    "SimpleQueue": ("queue.SimpleQueue()", "held.put(step)", "held.qsize()"),
    "Queue": ("queue.Queue()", "held.put(step)", "held.qsize()"),
    "Event": ("threading.Event()", "held.set()", "held.is_set()"),
    "Semaphore": ("threading.Semaphore(500)", "held.acquire()", "held._value"),
    "sha256": ("hashlib.sha256()", "held.update(b'x')", "held.hexdigest()"),
    "blake2b": ("hashlib.blake2b()", "held.update(b'x')", "held.hexdigest()"),
    "md5": ("hashlib.md5()", "held.update(b'x')", "held.hexdigest()"),
    "hmac": ("hmac.new(b'k', digestmod='sha256')", "held.update(b'x')", "held.hexdigest()"),
    "Value": ("multiprocessing.Value('i', 0)", "held.value += 1", "held.value"),
    "Array": ("multiprocessing.Array('d', 2)", "held[1] += 1.5", "held[:]"),
    "ExitStack": ("contextlib.ExitStack()", "held.callback(print)", "len(held._exit_callbacks)"),
}
SCRIPT = """
import contextlib, hashlib, hmac, multiprocessing, queue, random, threading, weakref


class Thing:
    held = MADE


class Callback:
    def on(self, step):
        held, one = Thing.held, Thing()
        kept.append(one)
        del kept[:-3]
        CHANGE


kept, callbacks, total = [], [Callback()], 0.0
for epoch in range(3):
    for step in range(20):
        total += random.random()
        for callback in callbacks:
            getattr(callback, "on")(step)
    print(epoch, len(kept))
+    held = Thing.held
+    print("PROBE", TOLD)
"""


@pytest.mark.parametrize("name", CHANGED)
def test_what_a_callback_changes_is_right(name: str, tmp_path: Path) -> None:
    made, change, told = CHANGED[name]
    text = SCRIPT.replace("MADE", made).replace("CHANGE", change).replace("TOLD", told.replace("held", "Thing.held"))
    text = text.replace("+    held = Thing.held\n", "")
    outcome = Trial(tmp_path, text).run()
    wrong = [failure for failure in outcome.failures() if "replay printed" in failure]
    assert not wrong or "exact: " not in outcome.replayed.said, "\n".join(wrong) + outcome.replayed.err
    assert not wrong, "\n".join(wrong) + outcome.replayed.err
