"""What the tests of `florc ui` share: the server as a process of its own, and a browser without a window."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from workshop import Workshop

SCRIPT = """
import random


class Model:
    def __init__(self):
        self.weights = [0.0] * 200

    def step(self):
        self.weights = [weight + 0.01 * (random.random() - weight) for weight in self.weights]


random.seed(0)
model = Model()
for epoch in range(6):
    for step in range(50):
        model.step()
    print("epoch", epoch, "loss", round(abs(0.5 - sum(model.weights) / 200), 6))
"""
SCRIPT = SCRIPT.lstrip("\n")
LAST = 17
"""The line of its last statement."""
QUESTION = "sum(model.weights)"
_UI = "from florc.ui.command import run_ui; raise SystemExit(run_ui({'command': 'ui', 'run': None, 'port': 0, 'open': False}))"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Page:
    """A running `florc ui`."""

    def __init__(self, process: subprocess.Popen[str]):
        assert process.stdout is not None
        self.process, self.url = process, process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), self.url + process.communicate(timeout=10)[1]

    @property
    def root(self) -> str:
        return self.url.rstrip("/").rpartition("/")[0]

    def get(self, path: str, url: str | None = None, method: str = "GET", data: bytes | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request((self.url if url is None else url) + path, data, named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as found:
                return Answer(found.status, dict(found.headers), found.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers), error.read().decode())

    def post(self, path: str, question: dict[str, Any]) -> Answer:
        return self.get(path, method="POST", data=json.dumps(question).encode(), Content_Type="application/json")

    def ask(self, **question: Any) -> list[dict[str, Any]]:
        """The events of a question."""
        found = self.post("api/ask", question)
        assert found.status == 200, found
        return [json.loads(line) for line in found.text.splitlines()]

    def only_run(self) -> str:
        (run,) = self.get("api/runs").json
        return str(run["id"])


@contextmanager
def served(workshop: Workshop) -> Iterator[Page]:
    """`florc ui` in the folder of a workshop, until the end of the block."""
    process = workshop.start(sys.executable, "-c", _UI)
    try:
        yield Page(process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()


def record(workshop: Workshop, text: str = SCRIPT, *words: str) -> None:
    workshop.write("train.py", text)
    done = workshop.run(sys.executable, "-m", "florc", "record", "--checkpoint", "every", "train.py", *words)
    assert done.code == 0, done


def values(events: list[dict[str, Any]], name: str) -> list[Any]:
    """The values that arrived while a question was answered."""
    return [row["value"] for event in events for row in event.get("values", ()) if row["name"] == name]


def said(events: list[dict[str, Any]]) -> str:
    return "\n".join(event["said"] for event in events if "said" in event)


def until(what: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What it returns, once that is true."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


def driver() -> Any:
    """A Chromium without a window; skips the test where there is none."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed (make test-ui)")
    browser, steering = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if browser is None or steering is None:
        pytest.skip("there is no Chromium here (make test-ui)")
    options = selenium.ChromeOptions()
    options.binary_location = browser
    for word in ("--headless=new", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1440,1300", "--lang=en"):
        options.add_argument(word)
    if os.getuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium does not start otherwise
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return selenium.Chrome(options=options, service=selenium.ChromeService(executable_path=steering))
