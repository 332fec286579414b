"""Experiment trackers: on replay the script's own calls change nothing, and what added statements send is where the user looks."""

from __future__ import annotations

import csv
import math
import os
import re
import shlex
import struct
from pathlib import Path

import pytest
from florc.trackers import csv_logger, event_files
from florc.trackers.point import Sent
from workshop import Done, Workshop

HEAD = """
import random

class Model:
    def __init__(self):
        self.weights = [0.0] * 200

    def step(self):
        self.weights = [weight + 0.01 * (random.random() - weight) for weight in self.weights]

random.seed(0)
model = Model()
"""
TB = f"""
from torch.utils.tensorboard import SummaryWriter
{HEAD}
writer = SummaryWriter(FOLDER)
for epoch in range(4):
    for step in range(50):
        model.step()
    writer.add_scalar("loss", abs(0.5 - sum(model.weights) / 200), epoch)
    # here
    print("epoch", epoch)
writer.close()
"""


def files(folder: Path) -> dict[str, bytes]:
    """What every file holds, but for those in folders with a dot and the script."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith(".") and name != "train.py":
            found[name] = path.read_bytes()
    return found


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard reads in a folder: steps and values of each tag, in its order."""
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def recorded(workshop: Workshop, text: str) -> dict[str, bytes]:
    workshop.write("train.py", text)
    done = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert done.code == 0, done.err + done.said
    return files(workshop.path)


def replayed(workshop: Workshop, text: str, statement: str, *options: str) -> Done:
    """A replay with a statement in the place of `# here`."""
    workshop.write("train.py", text.replace("# here", statement))
    return workshop.florc("replay", *options, "train.py")


def float32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def test_points_of_an_added_statement_are_in_the_recorded_folder(workshop: Workshop) -> None:
    pytest.importorskip("tensorboard")
    text = TB.replace("FOLDER", '"runs/a"')
    before = recorded(workshop, text)
    statement = 'writer.add_scalar("norm", sum(w * w for w in model.weights), epoch)'
    done = replayed(workshop, text, statement)
    assert done.code == 0 and "exact: " in done.said and "sent 4 values to TensorBoard, runs/a: hindsight/norm" in done.said, (
        done.said
    )
    after = files(workshop.path)
    assert {name: after[name] for name in before} == before, "a file of the recorded run has changed"
    (new,) = after.keys() - before.keys()
    assert new.startswith("runs/a/events.out.tfevents."), new

    truth = Workshop(workshop.path / ".plain")
    truth.path.mkdir()
    truth.write("train.py", text.replace("# here", statement))
    assert truth.plain("train.py").code == 0
    plain, found = scalars(truth.path / "runs" / "a"), scalars(workshop.path / "runs" / "a")
    assert found == {"loss": plain["loss"], "hindsight/norm": plain["norm"]}

    again = replayed(workshop, text, statement)
    assert "sent 0 values" in again.said and "4 were there" in again.said
    assert files(workshop.path) == after


def test_hyperparameters_that_are_added_are_read_by_the_plugin_and_sent_once(workshop: Workshop) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.plugins.hparams import metadata

    text = TB.replace("FOLDER", '"runs/a"').replace("writer.close()", "# there\nwriter.close()")
    before = recorded(workshop, text)
    added = text.replace("# there", 'writer.add_hparams({"lr": 0.5}, {"final": sum(model.weights)})')
    done = replayed(workshop, added, "pass")
    assert "sent 4 values to TensorBoard, runs/a/hindsight: _hparams_/experiment" in done.said, done.said
    after = files(workshop.path)
    assert {name: after[name] for name in before} == before
    assert "sent 0 values" in replayed(workshop, added, "pass").said and files(workshop.path) == after
    (new,) = after.keys() - before.keys()
    events = {event.tag: event.value for event in event_files.read(str(workshop.path / new))}
    assert events.keys() == {"_hparams_/experiment", "_hparams_/session_start_info", "_hparams_/session_end_info", "final"}
    from tensorboard.compat.proto.summary_pb2 import Summary

    started = Summary.Value.FromString(events["_hparams_/session_start_info"]).metadata.plugin_data.content
    assert metadata.parse_session_start_info_plugin_data(started).hparams["lr"].number_value == 0.5


def test_a_folder_that_the_time_names_is_the_recorded_one(workshop: Workshop) -> None:
    pytest.importorskip("tensorboard")
    text = TB.replace("FOLDER", "")
    (name,) = recorded(workshop, text)
    folder = os.path.dirname(name)
    done = replayed(workshop, text, 'writer.add_scalar("norm", sum(model.weights), epoch); print("into", writer.log_dir)')
    assert done.out == f"into {folder}\n" * 4
    assert scalars(workshop.path / folder)["hindsight/norm"][3][0] == 3
    assert {os.path.dirname(file) for file in files(workshop.path)} == {folder}


def test_part_of_a_run_is_added_to_what_is_there_in_the_order_of_steps(workshop: Workshop) -> None:
    pytest.importorskip("tensorboard")
    text = TB.replace("FOLDER", '"runs/a"')
    before = recorded(workshop, text)
    statement = 'writer.add_scalar("sum", sum(model.weights), epoch); import torch; writer.add_histogram("w", torch.tensor(model.weights), epoch)'
    assert "sent 2 values" in replayed(workshop, text, statement, "--iterations", "2:3").said
    assert [step for step, _ in scalars(workshop.path / "runs" / "a")["hindsight/sum"]] == [2]
    replayed(workshop, text, statement, "--iterations", "0:2")
    done = replayed(workshop, text, statement, "--workers", "2")
    assert "sent 2 values" in done.said and "6 were there" in done.said, done.said
    found = scalars(workshop.path / "runs" / "a")["hindsight/sum"]
    assert [step for step, _ in found] == [0, 1, 2, 3]
    assert len(files(workshop.path)) == len(before) + 1
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(workshop.path / "runs" / "a"), size_guidance={"histograms": 0})
    events.Reload()
    histograms = events.Histograms("hindsight/w")
    assert [event.step for event in histograms] == [0, 1, 2, 3] and histograms[0].histogram_value.num == 200


def test_printed_values_go_to_the_recorded_folder_with_to(workshop: Workshop) -> None:
    pytest.importorskip("tensorboard")
    text = TB.replace("FOLDER", '"runs/a"')
    before = recorded(workshop, text)
    done = replayed(workshop, text, 'print("norm", sum(w * w for w in model.weights))', "--to", "tb")
    printed = [float32(float(line.split()[1])) for line in done.out.splitlines()]
    assert scalars(workshop.path / "runs" / "a")["hindsight/norm"] == list(enumerate(printed))
    assert {name: data for name, data in files(workshop.path).items() if name in before} == before
    csv_file = workshop.path / "values.csv"
    replayed(workshop, text, 'print("norm", sum(w * w for w in model.weights))', "--to", f"csv={csv_file}")
    with csv_file.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [[row["step"], row["hindsight/norm"]] for row in rows] == [
        [str(step), line.split()[1]] for step, line in enumerate(done.out.splitlines())
    ]


def test_values_that_are_not_exact_are_not_sent_as_if_they_were(workshop: Workshop) -> None:
    loop = "for epoch in range(3):\n    for step in range(50):\n        model.step()\n    # here\n    print(epoch)\n"
    text = f'{HEAD}\nrate = float(open("rate").read())\n{loop}'
    workshop.write("rate", "0.5")
    recorded(workshop, text)
    out = workshop.path / "values.csv"
    workshop.write("rate", "0.25")
    done = replayed(workshop, text, 'print("norm", sum(model.weights))', "--to", f"csv={out}")
    assert "unverified" in done.said and "hindsight-unverified/norm" in done.said
    assert out.read_text().splitlines()[0] == "step,hindsight-unverified/norm"
    out.unlink()
    done = replayed(workshop, text, 'print("norm", random.random())', "--to", f"csv={out}")
    assert done.code == 1 and "nothing was sent to CSVLogger" in done.said and "[F511]" in done.said
    assert not out.exists()


def test_a_tracker_that_the_run_did_not_use_has_to_be_named(workshop: Workshop) -> None:
    text = f"{HEAD}\nfor epoch in range(2):\n    model.step()\n    # here\n"
    recorded(workshop, text)
    done = replayed(workshop, text, 'print("norm", 1)', "--to", "tb")
    assert done.code == 2 and "name one: --to tb=FOLDER [F108]" in done.said and not done.out
    done = replayed(workshop, text, 'print("norm", 1)', "--to", "nowhere")
    assert done.code == 2 and "tb, wandb, mlflow, trackio, csv" in done.err
    done = replayed(workshop, text, 'print("norm", 1)', "--to", f"csv={workshop.path}")
    assert done.code == 2 and "1 value" not in done.out and "[F511]" in done.said, done.said


def test_a_tracker_that_is_not_heard_is_switched_off(workshop: Workshop) -> None:
    workshop.write("clearml.py", "import os\nMODE = os.environ.get('CLEARML_OFFLINE_MODE')\n")
    text = f"import clearml\n{HEAD}\nfor epoch in range(2):\n    model.step()\n    # here\n    print(epoch)\n"
    recorded(workshop, text)
    done = replayed(workshop, text, "print('mode', clearml.MODE)")
    assert done.out == "mode 1\n" * 2 and "ClearML is switched off" in done.said


def test_a_part_of_the_points_of_a_step_takes_none_away(tmp_path: Path) -> None:
    """A replay of some iterations sends some of the points that `add_scalar` without a step has."""

    def there() -> list[float]:
        (path,) = tmp_path.glob("*.florc-x")
        return sorted(struct.unpack("<f", event.value[-4:])[0] for event in event_files.read(str(path)))

    points = [Sent("a", value, 0, 1.0) for value in (1.0, 2.0, 2.0)]
    assert event_files.write(str(tmp_path), "florc-x", points) == 3
    assert event_files.write(str(tmp_path), "florc-x", points[1:]) == 0 and there() == [1.0, 2.0, 2.0]
    assert event_files.write(str(tmp_path), "florc-x", [*points, points[0]]) == 4 and there() == [1.0, 1.0, 2.0, 2.0]
    assert event_files.write(str(tmp_path), "florc-x", [Sent("a", 5.0, 0, 1.0)]) == 1 and there() == [5.0]


def test_event_files_are_what_tensorboard_writes(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    assert event_files.masked_crc(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF
    points = [Sent("b", 1e300, 3, 12.5), Sent("a", math.nan, 3, 12.5), Sent("a", -0.1, -1, 11.0), Sent("é", 2.0, 1 << 40, 13.0)]
    assert event_files.write(str(tmp_path), "florc-x", points) == 4
    (path,) = tmp_path.iterdir()
    read = list(EventFileLoader(str(path)).Load())
    assert read[0].file_version == "brain.Event:2"
    found = [(event.step, event.wall_time, event.summary.value[0].tag) for event in read[1:]]
    assert found == [(-1, 11.0, "a"), (3, 12.5, "a"), (3, 12.5, "b"), (1 << 40, 13.0, "é")]
    values = [event.summary.value[0].tensor.float_val[0] for event in read[1:]]
    assert values[0] == float32(-0.1) and math.isnan(values[1]) and values[2] == math.inf and values[3] == 2.0
    assert event_files.write(str(tmp_path), "florc-x", points) == 0
    assert event_files.write(str(tmp_path), "florc-x", [Sent("b", 1.0, 3, 12.5)]) == 1
    (path,) = tmp_path.iterdir()
    assert [event.tag for event in event_files.read(str(path))] == ["a", "a", "b", "é"]
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 3)
    assert [event.tag for event in event_files.read(str(path))] == ["a", "a", "b"]


def test_a_csv_file_holds_a_line_for_each_step(tmp_path: Path) -> None:
    path = tmp_path / "hindsight.csv"
    assert csv_logger.write(str(path), [Sent("b", 1.0, 5, 0.0), Sent("b", 2.0, 5, 0.0), Sent("a", 0.1, 2, 0.0)]) == 3
    assert path.read_text() == "step,b,a\n2,,0.1\n5,1.0,\n5,2.0,\n"
    assert csv_logger.write(str(path), [Sent("b", 3.0, 5, 0.0), Sent("c", 1e-300, 2, 0.0)]) == 2
    assert path.read_text() == "step,b,a,c\n2,,0.1,1e-300\n5,3.0,,\n"
    path.write_text("epoch,loss\n0,1\n")
    with pytest.raises(ValueError, match="first column"):
        csv_logger.write(str(path), [Sent("b", 3.0, 5, 0.0)])
    assert path.read_text() == "epoch,loss\n0,1\n"


def test_a_value_without_a_step_has_that_of_its_loops(workshop: Workshop) -> None:
    text = f"""{HEAD}
for epoch in range(2, 5):
    for step in range(10):
        model.step()
        # here
    print(epoch)
"""
    recorded(workshop, text)
    out = workshop.path / "values.csv"
    replayed(workshop, text, 'print("norm", sum(model.weights))', "--to", f"csv={out}")
    assert [row.split(",")[0] for row in out.read_text().splitlines()[1:]] == [str(step) for step in range(30)]
    out.unlink()
    done = replayed(
        workshop, text.replace("    print(epoch)", "    print('last', step)\n    print(epoch)"), "", "--to", f"csv={out}"
    )
    assert done.out == "last 9\n" * 3
    assert [row.split(",")[0] for row in out.read_text().splitlines()[1:]] == ["2", "3", "4"]


def test_what_the_documentation_shows_is_what_happens(workshop: Workshop) -> None:
    """Each script, each command, what florc says and prints, and the file, of docs/trackers.md, in its order."""
    pytest.importorskip("tensorboard")
    text = (Path(__file__).resolve().parents[2] / "docs" / "trackers.md").read_text(encoding="utf-8")
    done, shown = Done("", "", "", 0), 0
    blocks = re.findall(r"```(python train\.py|text[^\n]*)\n(.*?)```|^    florc (.*?)$", text, re.S | re.M)
    for kind, block, command in blocks:
        if command:
            done = workshop.florc(*shlex.split(command))
            assert done.code == 0, done.said
        elif kind.startswith("python"):
            workshop.write("train.py", block)
        else:
            where = kind.partition(" ")[2]
            if where == "said":
                assert f"florc: {block}" in done.said
            else:
                assert block == ((workshop.path / where).read_text() if where else done.out)
            shown += 1
    assert shown == 4
    found = scalars(workshop.path / "runs" / "a")
    assert {tag: len(points) for tag, points in found.items()} == {"loss": 3, "hindsight/norm": 3, "hindsight/largest": 3}
