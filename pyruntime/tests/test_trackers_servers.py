"""Servers of trackers, started by the tests on this machine: a replay changes nothing there but adds values of added statements."""

from __future__ import annotations

import http.server
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from test_tracker_packages import LOOP, LOSS, is_exact, need, norms
from test_tracker_packages import at_home as at_home
from test_trackers import HEAD, files, recorded, replayed
from workshop import Workshop

NORM = "norm = sum(w * w for w in model.weights)"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def serving(command: list[str], url: str, folder: Path, **variables: str) -> Iterator[None]:
    """A server in a process group of its own, from when it answers until it is ended."""
    log = (folder / "log").open("wb")
    options: dict[str, Any] = {"stdout": log, "stderr": log, "start_new_session": True}
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, **variables}, **options)
    try:
        for _ in range(1800):  # one of MLflow takes half a minute on a slow machine
            assert process.poll() is None, (folder / "log").read_text()
            try:
                urllib.request.urlopen(url, timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise AssertionError((folder / "log").read_text())
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.close()


def tables(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
        names = [name for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(opened.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr) for name in names}


MLFLOW = f"""
import mlflow
mlflow.set_tracking_uri(open("uri").read())
mlflow.set_experiment("own")
run = mlflow.start_run(run_name="first")
mlflow.log_params({{"lr": 0.1}})
mlflow.set_tag("kind", "test")
mlflow.log_text("own", "folder/own.txt")
client = mlflow.MlflowClient()
client.create_registered_model("model")
client.create_model_version("model", f"{{run.info.artifact_uri}}/folder", run.info.run_id)
{HEAD}{LOOP.format(log=f"mlflow.log_metric('loss', {LOSS}, step=epoch)")}
mlflow.end_run()
"""


def test_a_server_of_mlflow_gets_only_what_added_statements_send(workshop: Workshop) -> None:
    need("mlflow")
    need("flask")  # of the whole package, which `mlflow-skinny` lacks
    folder, port = workshop.path / ".server", free_port()
    folder.mkdir()
    where = ["--backend-store-uri", "sqlite:///server.db", "--artifacts-destination", str(folder / "kept")]
    command = [sys.executable, "-m", "mlflow", "server", *where, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    (workshop.path / "uri").write_text(f"http://127.0.0.1:{port}")
    with serving(command, f"http://127.0.0.1:{port}/health", folder):
        recorded(workshop, MLFLOW)
        before, kept = tables(folder / "server.db"), files(folder / "kept")
        assert len(before["metrics"]) == 4 and len(before["model_versions"]) == 1 and len(kept) == 1
        ((run, *_),) = before["runs"]
        done = replayed(workshop, MLFLOW, "print('in', run.info.run_id)")
        is_exact(done, "")
        assert done.out == f"in {run}\n" * 4
        assert tables(folder / "server.db") == before and files(folder / "kept") == kept

        statement = f"{NORM}; mlflow.log_metric('norm', norm, step=epoch); mlflow.log_text(str(norm), 'norm.txt')"
        is_exact(replayed(workshop, MLFLOW, statement), f"sent 8 values to MLflow, {run}: hindsight/norm, hindsight/norm.txt")
        after = tables(folder / "server.db")
        changed = {name for name in after if after[name] != before[name]}
        assert changed == {"metrics", "latest_metrics"}
        with sqlite3.connect(folder / "server.db") as opened:
            added = opened.execute(
                "SELECT run_uuid, step, value FROM metrics WHERE key = 'hindsight/norm' ORDER BY step"
            ).fetchall()
        assert added == [(run, step, value) for step, value in enumerate(norms(workshop))]
        assert [row for row in after["metrics"] if "hindsight/norm" not in row] == before["metrics"]
        now = files(folder / "kept")
        (name,) = now.keys() - kept.keys()
        assert name.endswith(f"{run}/artifacts/hindsight/norm.txt") and float(now[name]) == norms(workshop)[-1]
        assert "sent 0 values" in replayed(workshop, MLFLOW, statement).said
        assert tables(folder / "server.db") == after and files(folder / "kept") == now
    done = replayed(workshop, MLFLOW, f"{NORM}; mlflow.log_metric('other', norm)")
    assert done.code == 2 and "4 values not sent to MLflow" in done.said and "Traceback" not in done.err, done.err + done.said


TRACKIO = f"""
import trackio
run = trackio.init(project="p", config={{"lr": 0.1}}, auto_log_cpu=False, auto_log_gpu=False)
{HEAD}{LOOP.format(log=f"trackio.log({{'loss': {LOSS}}}, step=epoch)")}
trackio.finish()
"""


def test_a_server_of_trackio_gets_only_what_added_statements_send(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    need("trackio")
    folder, port = workshop.path / ".server", free_port()
    folder.mkdir()
    code = f"import trackio; trackio.show(open_browser=False, host='127.0.0.1', server_port={port}, block_thread=True)"
    known = {"TRACKIO_DIR": str(folder / "kept"), "TRACKIO_WRITE_TOKEN": "known"}
    database = folder / "kept" / "p.db"

    def stored() -> list[tuple[Any, ...]]:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
            rows = opened.execute("SELECT run_name, step, metrics FROM metrics ORDER BY id").fetchall()
        return [(name, step, json.loads(values)) for name, step, values in rows]

    with serving([sys.executable, "-c", code], f"http://127.0.0.1:{port}/", folder, **known):
        monkeypatch.setenv("TRACKIO_SERVER_URL", f"http://127.0.0.1:{port}/?write_token=known")
        recorded(workshop, TRACKIO)
        before, all_before = stored(), tables(database)
        assert [step for _, step, _ in before] == [0, 1, 2, 3]
        run = before[0][0]
        done = replayed(workshop, TRACKIO, "print('in', run.name)")
        is_exact(done, "")
        assert done.out == f"in {run}\n" * 4 and tables(database) == all_before
        statement = f"{NORM}; trackio.log({{'norm': norm}}, step=epoch)"
        is_exact(replayed(workshop, TRACKIO, statement), f"sent 4 values to Trackio, {run}: hindsight/norm")
        after = stored()
        assert after[:4] == before
        assert after[4:] == [(run, step, {"hindsight/norm": value}) for step, value in enumerate(norms(workshop))]
        assert "sent 0 values" in replayed(workshop, TRACKIO, statement).said
        assert stored() == after
        monkeypatch.setenv("TRACKIO_SERVER_URL", f"http://127.0.0.1:{port}/?write_token=wrong")
        done = replayed(workshop, TRACKIO, f"{NORM}; trackio.log({{'other': norm}}, step=epoch)")
        assert done.code == 2 and "4 values not sent to Trackio" in done.said and stored() == after, done.said
    assert b"known" not in b"".join(path.read_bytes() for path in (workshop.path / ".florc").rglob("*") if path.is_file())


class Counting:
    """A server that refuses everything, and counts."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_error(500)

            do_POST = do_PUT = do_GET

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.mark.parametrize("how", ["mode='online'", "settings=wandb.Settings(mode='online')", "resume='must', id='known'"])
def test_wandb_never_goes_online_in_a_replay(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """The script of the replay asks for it, by an argument, settings or the environment; the record was offline."""
    need("wandb")
    server = Counting()
    monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{server.http.server_address[1]}")
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    text = f"""
import os, wandb
given = dict({how}) if os.path.exists("online") else {{}}
wandb.login(key="0" * 40) if given else None
run = wandb.init(project="p", dir=".", **given)
{HEAD}{LOOP.format(log=f"wandb.log({{'loss': {LOSS}}}, step=epoch)")}
wandb.finish()
"""
    before = recorded(workshop, text)
    (workshop.path / "online").touch()
    monkeypatch.setenv("WANDB_MODE", "online")
    asked = list(server.asked)
    try:
        done = replayed(workshop, text, f"{NORM}; wandb.log({{'norm': norm}}, step=epoch)")
    finally:
        server.http.shutdown()
        server.http.server_close()
    is_exact(done, "sent 4 values to Weights & Biases")
    assert server.asked == asked
    after = files(workshop.path)
    assert {name: data for name, data in after.items() if name in before} == before
    assert all("-hindsight" in name for name in after.keys() - before.keys() - {"online"})
