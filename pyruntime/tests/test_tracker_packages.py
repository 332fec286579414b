"""MLflow, Weights & Biases, Trackio and Lightning's CSVLogger, each with its own package and offline: what they stored is read back.
`make test-trackers` installs them."""

from __future__ import annotations

import csv
import importlib.util
import json
import math
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_trackers import HEAD, files, recorded, replayed
from workshop import Done, Workshop

LOOP = """
for epoch in range(4):
    for step in range(50):
        model.step()
    {log}
    # here
    print("epoch", epoch)
"""
LOSS = "abs(0.5 - sum(model.weights) / 200)"


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's settings, and nothing over the network."""
    monkeypatch.setenv("HOME", str(tmp_path / ".home"))
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("MLFLOW_TRACKING_URI", "TRACKIO_SPACE_ID", "TRACKIO_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)


def need(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: make test-trackers")


def norms(workshop: Workshop) -> list[float]:
    """What a plain run computes at the end of each epoch."""
    plain = workshop.path / ".florc-plain"
    plain.mkdir(exist_ok=True)
    text = HEAD + LOOP.format(log="print(sum(w * w for w in model.weights))").replace('print("epoch", epoch)', "pass")
    other = Workshop(plain)
    other.write("norms.py", text)
    return [float(line) for line in other.plain("norms.py").out.splitlines()]


def is_exact(done: Done, sent: str) -> None:
    assert done.code == 0 and "exact: " in done.said and sent in done.said, done.err + done.said


def metrics(database: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(database) as tables:
        return sorted(tables.execute("SELECT run_uuid, key, step, value FROM metrics"))


@pytest.mark.parametrize("call", ["log_metric('norm', norm, step=epoch)", "log_metrics({'norm': norm})"])
def test_mlflow_gets_added_metrics_in_the_recorded_run(workshop: Workshop, call: str) -> None:
    need("mlflow")
    setup = (
        'import mlflow\nmlflow.set_tracking_uri("sqlite:///mlflow.db")\nrun = mlflow.start_run()\nmlflow.log_param("lr", 0.1)\n'
    )
    text = setup + HEAD + LOOP.format(log=f"mlflow.log_metric('loss', {LOSS}, step=epoch)") + "mlflow.end_run()\n"
    recorded(workshop, text)
    database = workshop.path / "mlflow.db"
    before = metrics(database)
    ((run, *_), *_) = before
    statement = f"norm = sum(w * w for w in model.weights); mlflow.{call}; print('in', run.info.run_id)"
    done = replayed(workshop, text, statement)
    is_exact(done, f"sent 4 values to MLflow, {run}: hindsight/norm")
    assert done.out == f"in {run}\n" * 4
    after = metrics(database)
    added = [(step, value) for _, key, step, value in after if key == "hindsight/norm"]
    assert added == list(enumerate(norms(workshop)))
    assert [row for row in after if row[1] != "hindsight/norm"] == before
    with sqlite3.connect(database) as tables:
        assert tables.execute("SELECT count(*) FROM runs").fetchone() == (1,)
        assert tables.execute("SELECT key, value FROM params").fetchall() == [("lr", "0.1")]
    assert "sent 0 values" in replayed(workshop, text, statement).said
    assert metrics(database) == after
    other = replayed(workshop, text, "print('norm', 7)", "--to", "mlflow")
    is_exact(other, "hindsight/norm")
    assert [row[2:] for row in metrics(database) if row[1] == "hindsight/norm.2"] == [(step, 7.0) for step in range(4)]


def test_a_run_that_begins_in_a_loop_is_the_one_that_began_there(workshop: Workshop) -> None:
    need("mlflow")
    text = f"""import mlflow
mlflow.set_tracking_uri("sqlite:///mlflow.db")
{HEAD}
for fold in range(3):
    with mlflow.start_run():
        for step in range(50):
            model.step()
        mlflow.log_metric("fold", fold)
        # here
    print("fold", fold)
"""
    recorded(workshop, text)
    before = metrics(workshop.path / "mlflow.db")
    ((run, *_),) = (row for row in before if row[3] == 2.0)
    statement = "mlflow.log_metric('sum', sum(model.weights), step=7); print('sum', sum(model.weights))"
    done = replayed(workshop, text, statement, "--iterations", "2:3")
    assert done.code == 0, done.said
    added = [row for row in metrics(workshop.path / "mlflow.db") if row not in before]
    assert [(row[0], row[2], row[3]) for row in added] == [(run, 7, float(done.out.split()[1]))], done.said


def test_metrics_of_steps_that_are_not_run_again_leave_the_answer_exact(workshop: Workshop) -> None:
    need("mlflow")
    setup = 'import mlflow\nmlflow.set_tracking_uri("sqlite:///mlflow.db")\nrun = mlflow.start_run()\n'
    text = (
        setup
        + HEAD
        + LOOP.replace("        model.step()", "        model.step()\n        mlflow.log_metric('w', model.weights[0])")
    )
    text = text.format(log="pass") + "mlflow.end_run()\n"
    recorded(workshop, text)
    before = metrics(workshop.path / "mlflow.db")
    assert len(before) == 200
    statement = "mlflow.log_metric('norm', sum(w * w for w in model.weights), step=epoch)"
    is_exact(replayed(workshop, text, statement), "sent 4 values to MLflow")
    after = metrics(workshop.path / "mlflow.db")
    assert [row for row in after if row[1] == "w"] == before
    assert [row[2:] for row in after if row[1] == "hindsight/norm"] == list(enumerate(norms(workshop)))


def test_mlflow_on_a_server_gets_nothing_from_the_script_itself(workshop: Workshop) -> None:
    """The server is gone when the run is replayed: a script that called it would not come to its end."""
    need("mlflow")
    setup = 'import mlflow\nmlflow.set_tracking_uri(open("uri").read())\nrun = mlflow.start_run()\n'
    text = setup + HEAD + LOOP.format(log=f"mlflow.log_metric('loss', {LOSS}, step=epoch)") + "mlflow.end_run()\n"
    (workshop.path / "uri").write_text("sqlite:///mlflow.db")
    recorded(workshop, text)
    (workshop.path / "uri").write_text("http://127.0.0.1:9/")
    done = replayed(workshop, text, "print('sum', sum(model.weights), run.info.run_id)")
    assert len(done.out.splitlines()) == 4, done.said
    ((run, *_), *_) = metrics(workshop.path / "mlflow.db")
    assert all(line.endswith(run) for line in done.out.splitlines())


def history(folder: Path) -> list[dict[str, Any]]:
    """The rows that wandb stored in the folder of an offline run: a log of LevelDB with records of protocol buffers."""
    from wandb.proto import wandb_internal_pb2 as proto

    (path,) = folder.glob("*.wandb")
    rows = []
    for record in leveldb(path.read_bytes()[7:], 7):
        parsed = proto.Record()
        parsed.ParseFromString(record)
        if parsed.WhichOneof("record_type") == "history":
            items = parsed.history.item
            rows.append({item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in items})
    return rows


def leveldb(data: bytes, begun: int) -> Iterator[bytes]:
    at, whole = 0, b""
    while at + 7 <= len(data):
        left = 32768 - (at + begun) % 32768
        if left < 7:
            at += left
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        whole += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield whole
            whole = b""


def test_wandb_gets_added_values_in_a_run_beside_the_recorded_one(workshop: Workshop) -> None:
    need("wandb")
    setup = 'import wandb\nrun = wandb.init(project="p", dir=".", config={"lr": 0.1})\n'
    text = setup + HEAD + LOOP.format(log=f"wandb.log({{'loss': {LOSS}}}, step=epoch)") + "wandb.finish()\n"
    before = recorded(workshop, text)
    (folder,) = (workshop.path / "wandb").glob("offline-run-*")
    run = folder.name.rpartition("-")[2]
    assert [row["loss"] for row in history(folder)]
    statement = "wandb.log({'norm': sum(w * w for w in model.weights)}, step=epoch); print('in', run.id)"
    done = replayed(workshop, text, statement)
    is_exact(done, f"sent 4 values to Weights & Biases, {run}: hindsight/norm")
    assert done.out == f"in {run}\n" * 4
    after = files(workshop.path)
    assert {name: data for name, data in after.items() if name in before} == before
    others = {name.split("/")[1] for name in after.keys() - before.keys()} - {"latest-run"}
    assert len(others) == 1 and others.pop().endswith(f"-{run}-hindsight")

    def added() -> list[tuple[int, float]]:
        (beside,) = (workshop.path / "wandb").glob("*-hindsight")
        return [(row["hindsight/step"], row["hindsight/norm"]) for row in history(beside)]

    assert added() == list(enumerate(norms(workshop)))
    assert "sent 0 values" in replayed(workshop, text, statement).said
    assert added() == list(enumerate(norms(workshop)))
    replayed(workshop, text, "print('twice', 2 * epoch)", "--to", "wandb")
    (beside,) = (workshop.path / "wandb").glob("*-hindsight")
    rows = [(row["hindsight/step"], row.get("hindsight/norm"), row.get("hindsight/twice")) for row in history(beside)]
    known = norms(workshop)
    assert [row for row in rows if row[2] is None] == [(step, value, None) for step, value in enumerate(known)]
    assert [row for row in rows if row[1] is None] == [(step, None, 2.0 * step) for step in range(4)]


def test_trackio_gets_added_values_in_the_recorded_run(workshop: Workshop) -> None:
    need("trackio")
    setup = 'import trackio\nrun = trackio.init(project="p", config={"lr": 0.1}, auto_log_cpu=False, auto_log_gpu=False)\n'
    text = setup + HEAD + LOOP.format(log=f"trackio.log({{'loss': {LOSS}}}, step=epoch)") + "trackio.finish()\n"
    recorded(workshop, text)

    def stored() -> list[tuple[str, int, dict[str, Any]]]:
        with sqlite3.connect(workshop.path / "trackio" / "p.db") as tables:
            rows = tables.execute("SELECT run_name, step, metrics FROM metrics ORDER BY id").fetchall()
        return [(name, step, json.loads(values)) for name, step, values in rows]

    before = stored()
    run = before[0][0]
    statement = "trackio.log({'norm': sum(w * w for w in model.weights)}, step=epoch); print('in', run.name)"
    done = replayed(workshop, text, statement)
    is_exact(done, f"sent 4 values to Trackio, {run}: hindsight/norm")
    assert done.out == f"in {run}\n" * 4
    after = stored()
    assert after[: len(before)] == before
    assert after[len(before) :] == [(run, step, {"hindsight/norm": value}) for step, value in enumerate(norms(workshop))]
    assert "sent 0 values" in replayed(workshop, text, statement).said
    assert stored() == after
    replayed(workshop, text, "print('ten', 10 * epoch)", "--to", "trackio")
    assert stored()[len(after) :] == [(run, step, {"hindsight/ten": 10.0 * step}) for step in range(4)]


def test_csv_logger_of_lightning_gets_a_file_beside_its_own(workshop: Workshop) -> None:
    need("lightning")
    setup = 'from lightning.pytorch.loggers import CSVLogger\nlogger = CSVLogger("logs")\n'
    text = setup + HEAD + LOOP.format(log=f"logger.log_metrics({{'loss': {LOSS}}}, step=epoch); logger.save()")
    before = recorded(workshop, text)
    statement = "logger.log_metrics({'norm': sum(w * w for w in model.weights)}, step=epoch)"
    done = replayed(workshop, text, statement)
    is_exact(done, "sent 4 values to CSVLogger, logs/lightning_logs/version_0: hindsight/norm")
    after = files(workshop.path)
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {"logs/lightning_logs/version_0/hindsight.csv"}
    path = workshop.path / "logs" / "lightning_logs" / "version_0" / "hindsight.csv"
    with path.open(newline="") as file:
        rows = [(int(row["step"]), float(row["hindsight/norm"])) for row in csv.DictReader(file)]
    assert rows == list(enumerate(norms(workshop)))
    assert "sent 0 values" in replayed(workshop, text, statement).said
    replayed(workshop, text, "print('ten', 10 * epoch)", "--to", "csv")
    with path.open(newline="") as file:
        assert [float(row["hindsight/ten"]) for row in csv.DictReader(file)] == [0.0, 10.0, 20.0, 30.0]


def test_tensorboard_x_gets_an_event_file_beside_its_own(workshop: Workshop) -> None:
    need("tensorboardX")
    need("tensorboard")
    from test_trackers import scalars

    setup = 'from tensorboardX import SummaryWriter\nwriter = SummaryWriter("runs/x")\n'
    text = setup + HEAD + LOOP.format(log=f"writer.add_scalar('loss', {LOSS}, epoch)") + "writer.close()\n"
    before = recorded(workshop, text)
    statement = "writer.add_scalar('norm', sum(w * w for w in model.weights), epoch)"
    done = replayed(workshop, text, statement)
    is_exact(done, "sent 4 values to TensorBoard, runs/x: hindsight/norm")
    after = files(workshop.path)
    assert {name: after[name] for name in before} == before and len(after) == len(before) + 1
    found = scalars(workshop.path / "runs" / "x")
    assert len(found["loss"]) == 4
    assert all(math.isclose(a, b, rel_tol=1e-6) for (_, a), b in zip(found["hindsight/norm"], norms(workshop)))
    assert [step for step, _ in found["hindsight/norm"]] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("package", "setup", "state"),
    [
        ("comet_ml", 'run = comet_ml.OfflineExperiment(project_name="p", offline_directory=".comet")', "run.disabled"),
        ("neptune", 'run = neptune.init_run(project="a/b", api_token="ANONYMOUS", mode="debug")', "os.environ['NEPTUNE_MODE']"),
    ],
)
def test_trackers_that_are_switched_off_are_off(workshop: Workshop, package: str, setup: str, state: str) -> None:
    need(package)
    text = f"import os, {package}\n{setup}\n" + HEAD + LOOP.format(log="pass")
    recorded(workshop, text)
    done = replayed(workshop, text, f"print('state', {state})")
    assert done.out.splitlines() == [f"state {'True' if package == 'comet_ml' else 'debug'}"] * 4, done.said
