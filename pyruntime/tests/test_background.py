"""`florc.background`: the file is what the plain writer's would be, and the script is never in doubt about it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fake_device
import florc
import numpy as np
import pytest
from fake_device import FakeDevice
from florc.staging import devices
from florc.writing import link
from florc.writing.arrivals import Arrivals
from pages import Page, text_of
from workshop import Workshop

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader  # noqa: E402
from tensorboard.compat.proto.event_pb2 import Event  # noqa: E402
from torch.utils.tensorboard import SummaryWriter  # noqa: E402

Log = Callable[[Any], None]


def events(folder: Path) -> dict[str, list[bytes]]:
    """What the event files below a folder hold, in the order of the file, without times; by the folder of each file."""
    found: dict[str, list[bytes]] = {}
    for path in sorted(folder.rglob("*tfevents*")):
        for raw in RawEventFileLoader(str(path)).Load():
            event = Event.FromString(raw)
            event.wall_time = 0
            name = str(path.parent.relative_to(folder))
            found.setdefault(name, []).append(event.SerializeToString(deterministic=True))
    return found


def both(tmp_path: Path, log: Log, make: Callable[[str], Any] = SummaryWriter) -> dict[str, list[bytes]]:
    """The events of a writer in the background, which have to be those of the plain one."""
    for name, wrap in (("plain", lambda writer: writer), ("behind", florc.background)):
        torch.manual_seed(0)
        np.random.seed(0)
        writer = wrap(make(str(tmp_path / name / "run")))
        log(writer)
        writer.close()
    plain, behind = events(tmp_path / "plain"), events(tmp_path / "behind")
    assert len(list((tmp_path / "plain").rglob("*tfevents*"))) == len(list((tmp_path / "behind").rglob("*tfevents*")))
    assert plain == behind
    return behind


def histograms(writer: Any, is_torchs: bool = True) -> None:
    values = torch.randn(300, 40)
    for step, given in enumerate(
        [
            values,
            values.t(),
            values[:, ::3],
            values.bfloat16() if is_torchs else values,
            values.half(),
            values.double() / 3,
            (values * 100).int(),
            values > 0,
            torch.nn.Parameter(values),
            values.clone().requires_grad_() * 2,
            values.expand(2, 300, 40),
            torch.tensor(0.5),
            torch.zeros(0, 3).new_zeros(7),
            torch.tensor([float("nan"), 1.0, float("inf")]),
            torch.randn(200_000),
            torch.randn(200_000).exp() ** 9,
            torch.randn(150_000, dtype=torch.float64),
            torch.randn(3, 1000, dtype=torch.float64).numpy()[:, ::-1],
            np.asfortranarray(values.numpy()),
            values.numpy().astype(">f4"),
            np.float32(3),
            7,
        ]
    ):
        writer.add_histogram("h", given, step)
    for bins in ("auto", "fd", 7, [-1.0, 0.0, 0.5, 2.0], np.linspace(-3, 3, 50)):
        writer.add_histogram("bins", values, bins=bins)
    writer.add_histogram("most", values, 1, max_bins=20)
    writer.add_histogram("at", values, walltime=12.0)
    writer.add_histogram_raw("raw", 0.0, 2.0, 3, 3.0, 5.0, torch.tensor([1.0, 2.0]), np.array([1, 2]), 4)


def everything_else(writer: Any) -> None:
    writer.add_scalar("s", torch.tensor(0.25, requires_grad=True), 0)
    writer.add_scalar("s", np.float64(3), np.int64(1), new_style=True)
    writer.add_scalar("s", 3, 2, 55.0)
    writer.add_scalars("several", {"a": 1.0, "b": torch.tensor(2.0)}, 0)
    writer.add_image("chw", torch.rand(3, 9, 7), 0)
    writer.add_image("hwc", np.random.rand(9, 7, 3), 0, dataformats="HWC")
    writer.add_image("bytes", (torch.rand(3, 9, 7) * 255).byte())
    writer.add_images("n", torch.rand(4, 1, 6, 5), 3)
    writer.add_text("t", "größe", 0)
    writer.add_pr_curve("pr", np.array([0, 1, 1, 0]), torch.tensor([0.1, 0.9, 0.4, 0.6]), 0)
    writer.add_mesh("mesh", torch.rand(1, 5, 3))
    writer.add_custom_scalars({"x": {"y": ["Multiline", ["s"]]}})
    writer.add_audio("sound", torch.rand(1, 200) * 2 - 1, 0, sample_rate=200)
    writer.add_graph(torch.nn.Linear(3, 2), torch.zeros(1, 3))
    writer.add_hparams({"lr": 0.1}, {"acc": 0.5}, run_name="trial")  # protobuf orders several as it likes
    writer.add_embedding(torch.rand(4, 3), metadata=["a", "b", "c", "d"], global_step=1)
    writer.add_tensor("tensor", torch.rand(2, 2))


def changed(writer: Any) -> None:
    """What is logged changes after the call."""
    tensor, array, numbers, several = torch.zeros(100_000), np.zeros(5), [-1.0, 2.0, 50.0], {"a": 1.0}
    for step in range(30):
        writer.add_histogram("tensor", tensor, step)
        writer.add_histogram("array", array, step)
        writer.add_histogram("bins", array, step, bins=numbers)
        writer.add_scalars("several", several, step)
        tensor += 1
        array[step % 5] += 1
        numbers[0] -= 1
        several["a"] += 1


def test_the_same_histograms_of_what_was_there_at_the_call(tmp_path: Path) -> None:
    def log(writer: Any) -> None:
        histograms(writer)
        changed(writer)

    assert len(both(tmp_path, log)["run"]) > 119


def test_the_same_of_all_other_methods(tmp_path: Path) -> None:
    found = both(tmp_path, everything_else)
    assert set(found) == {"run", "run/several_a", "run/several_b", "run/trial"}
    written = {path.name for path in (tmp_path / "behind" / "run").rglob("*.tsv")}
    assert written == {"metadata.tsv", "tensors.tsv"}


def test_the_same_of_tensorboard_x(tmp_path: Path) -> None:
    kind = pytest.importorskip("tensorboardX").SummaryWriter

    def log(writer: Any) -> None:
        histograms(writer, is_torchs=False)
        writer.add_scalar("s", 1.5, 0)
        writer.add_scalars("several", {"a": 1.0}, 0)
        writer.add_image("i", torch.rand(3, 9, 7), 0)
        with writer.use_metadata(global_step=9):
            writer.add_scalar("s", 2.5)
        writer.add_text("t", "x")
        writer.export_scalars_to_json(str(tmp_path / "all.json"))

    found = both(tmp_path, log, kind)
    assert len(found["run"]) > 30 and "several" in (tmp_path / "all.json").read_text()


def test_a_figure_is_drawn_when_it_is_logged(tmp_path: Path) -> None:
    plot = pytest.importorskip("matplotlib.pyplot")

    def log(writer: Any) -> None:
        figure, axes = plot.subplots()
        (line,) = axes.plot([1, 2, 3])
        writer.add_figure("f", figure, 0, close=False)
        line.set_ydata([3, 2, 1])
        writer.add_figure("f", [figure], 1)
        assert not plot.get_fignums()

    both(tmp_path, log)


def test_a_call_waits_where_no_more_may_wait_and_one_larger_than_that_is_taken(tmp_path: Path) -> None:
    def limited(writer: Any) -> Any:
        return florc.background(writer, memory=1 << 20) if "behind" in writer.log_dir else writer

    def log(writer: Any) -> None:
        for step in range(12):
            writer.add_histogram("w", torch.full((70_000,), float(step)), step)
            if step % 5 == 4:
                writer.add_histogram("large", torch.arange(900_000.0), step)

    both(tmp_path, log, lambda folder: limited(SummaryWriter(folder)))


def test_errors_of_methods_are_raised_later_as_they_are_and_warnings_shown(tmp_path: Path) -> None:
    plain = SummaryWriter(str(tmp_path / "plain"))
    writer = florc.background(SummaryWriter(str(tmp_path / "behind")))
    for given in (torch.empty(0), "no such blob", torch.tensor([float("nan")])):
        with pytest.raises(Exception) as expected:
            plain.add_histogram("h", given, bins="auto")
        with pytest.raises(type(expected.value)) as raised:
            writer.add_histogram("h", given, bins="auto")  # where the other process is that quick
            writer.flush()
        assert str(raised.value) == str(expected.value)
        assert any(name in str(raised.value.__cause__) for name in ("make_np", "make_histogram"))
    writer.flush()
    with pytest.warns(RuntimeWarning, match="invalid value"):
        writer.add_image("i", torch.full((3, 4, 4), float("nan")))
        writer.flush()
    writer.close()
    assert len(events(tmp_path / "behind")["."]) == 2


def test_it_passes_for_the_writer(tmp_path: Path) -> None:
    plain = SummaryWriter(str(tmp_path))
    writer = florc.background(plain)
    assert isinstance(writer, SummaryWriter) and florc.background(writer) is writer
    assert writer.log_dir == writer.get_logdir() == writer.file_writer.get_logdir() == str(tmp_path)
    assert writer.add_scalar.__name__ == "add_scalar" and "add_histogram" in dir(writer)
    with pytest.raises(AttributeError):
        writer.add_nothing  # noqa: B018
    with pytest.raises(TypeError, match="cannot be pickled"):
        __import__("pickle").dumps(writer)
    with pytest.raises(TypeError, match="methods such as add_scalar"):
        florc.background([])
    writer.default_bins = [-1.0, 0.0, 1.0]
    writer.add_histogram("h", torch.linspace(-1, 1, 11))
    plain.add_scalar("through the writer itself", 1.0, 3)
    writer.file_writer.event_writer.add_event(Event(step=5))
    writer.close()
    writer.close()
    first, h, scalar, bare = (Event.FromString(one) for one in events(tmp_path)["."])
    assert list(h.summary.value[0].histo.bucket_limit) == [-1.0, 0.0, 1.0]
    assert (first.file_version, scalar.step, bare.step) == ("brain.Event:2", 3, 5)
    time.sleep(1.1)  # names of event files are by the second
    writer.add_scalar("after the end", 1.0)
    writer.close()
    assert len(list(tmp_path.glob("*tfevents*"))) == 2


class Own(SummaryWriter):
    """A writer of the script's own."""

    def add_hparams(self, hparams: dict, metrics: dict) -> None:
        self.add_text("hparams", str(hparams))
        self.add_scalar("metric", metrics["m"])


def test_methods_of_a_class_of_the_script_run_in_the_script(tmp_path: Path) -> None:
    def log(writer: Any) -> None:
        writer.add_histogram("h", torch.ones(3))
        writer.add_hparams({"lr": [1]}, {"m": 2.0})
        writer.add_scalar("last", 0)

    assert len(both(tmp_path, log, Own)["run"]) == 5


class Elsewhere:
    """A writer of another library."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.threads: set[int] = set()
        self.is_closed = False

    def add_values(self, name: str, values: Any, walltime: float | None = None) -> None:
        time.sleep(0.01)
        self.threads.add(threading.get_ident())
        self.calls.append((name, float(values.sum()), walltime))
        if name == "bad":
            raise KeyError(name)

    def add_object(self, value: Any) -> None:
        self.calls.append(value)

    def close(self) -> None:
        self.is_closed = True


def test_other_writers_are_called_by_a_thread(tmp_path: Path) -> None:
    writer = Elsewhere()
    behind = florc.background(writer, memory=1 << 20)
    values = torch.ones(100_000)
    begun = time.time()
    for number in range(12):
        behind.add_values(f"v{number}", values)
        values += 1
    behind.add_object(marker := Elsewhere())  # nobody else could have this one
    behind.add_values("bad", values)
    with pytest.raises(KeyError):
        behind.close()
    assert writer.is_closed and threading.get_ident() not in writer.threads
    assert [call[:2] for call in writer.calls[:12]] == [(f"v{number}", 100_000.0 * (number + 1)) for number in range(12)]
    assert writer.calls[12] is marker and all(begun <= call[2] <= time.time() for call in writer.calls[:12])


def test_threads_may_log_at_once_and_every_event_has_the_time_of_its_call(tmp_path: Path) -> None:
    times: dict[str, list[float]] = {name: [] for name in "abc"}
    with florc.background(SummaryWriter(str(tmp_path))) as writer:

        def log(name: str) -> None:
            for step in range(50):
                times[name].append(time.time())
                writer.add_scalar(name, step, step)
                time.sleep(0.001)

        threads = [threading.Thread(target=log, args=(name,)) for name in times]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ended_at = time.time()
    (path,) = tmp_path.glob("*tfevents*")
    found = [Event.FromString(raw) for raw in RawEventFileLoader(str(path)).Load()][1:]
    for name, begun in times.items():
        own = [event for event in found if event.summary.value[0].tag == name]
        assert [event.step for event in own] == list(range(50))
        after = [*begun[1:], ended_at]
        assert all(first <= event.wall_time <= last for first, event, last in zip(begun, own, after))


@pytest.mark.parametrize("room", [1 << 30, 0])
def test_what_a_device_copies_by_itself_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    device = FakeDevice(room_bytes=room)

    class OnDevice(link.Record):
        def __init__(self, call: Any):
            super().__init__(call)
            self.on_device = [at for at, leaf in enumerate(self.leaves) if isinstance(leaf, torch.Tensor)]

    monkeypatch.setattr(link, "Record", OnDevice)
    monkeypatch.setitem(devices.MAKERS, "cpu", lambda name: device)
    monkeypatch.setattr(devices, "_made", {})
    monkeypatch.setattr(fake_device.Event, "synchronize", lambda event: device.advance())
    monkeypatch.setattr(Arrivals, "_prepared", lambda self, torch: self._whole(torch) is not None)

    def log(writer: Any) -> None:
        values = torch.zeros(5000, 3)
        for step in range(4):
            writer.add_histogram("d", values, step)
            writer.add_scalar("s", step, step)
            writer.add_histogram("t", values.t()[1:], step)
            values += 1
        if "behind" in writer.log_dir:
            time.sleep(0.2)
            assert len(events(tmp_path / "behind")["run"]) == 1, "nothing has arrived yet"

    both(tmp_path, log)
    assert bool(device.clones) != bool(device.held)


HEAD = """
import os, signal, sys, time, torch, florc
from torch.utils.tensorboard import SummaryWriter
writer = florc.background(SummaryWriter("runs"))
for step in range(20):
    writer.add_histogram("h", torch.randn(50_000), step)
"""


def ended(tmp_path: Path, rest: str) -> subprocess.CompletedProcess[str]:
    """A script that logs and then ends so."""
    return subprocess.run([sys.executable, "-c", HEAD + rest], cwd=tmp_path, capture_output=True, text=True, timeout=100)


def working_in(folder: Path) -> Iterator[int]:
    """Processes that work in this folder."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(path / "cwd") == str(folder) and int(path.name) != os.getpid():
                yield int(path.name)
        except OSError:
            continue


ENDS = {
    "raise": ("1 / 0", 1),
    "at once": ("os._exit(0)", 0),
    "terminated": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "killed, its child lives on": (
        "if os.fork() == 0: os.closerange(1, 3); time.sleep(60); os._exit(0)\nos.kill(os.getpid(), signal.SIGKILL)",
        -signal.SIGKILL,
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_was_logged_is_on_disk_however_the_script_ends(tmp_path: Path) -> None:
    started = {}
    for name, (rest, _) in ENDS.items():
        (tmp_path / name).mkdir()
        started[name] = subprocess.Popen([sys.executable, "-c", HEAD + rest], cwd=tmp_path / name, stderr=subprocess.PIPE)
    try:
        for name, process in started.items():
            _, said = process.communicate(timeout=280)
            assert process.returncode == ENDS[name][1], said
        until = time.monotonic() + 60
        for name in ENDS:
            alone = int("lives on" in name)
            while len(list(working_in(tmp_path / name))) > alone and time.monotonic() < until:
                time.sleep(0.1)
            assert len(list(working_in(tmp_path / name))) == alone, f"{name}: a process is left"
            assert len(events(tmp_path / name)["runs"]) == 21, name
    finally:
        for name in ENDS:
            for process in working_in(tmp_path / name):
                os.kill(process, signal.SIGKILL)


def test_a_forked_child_has_to_make_a_writer_of_its_own(tmp_path: Path) -> None:
    rest = """
if os.fork() == 0:
    try:
        writer.add_scalar("s", 1)
    except RuntimeError as error:
        print(error, flush=True)
    sys.exit(0)
print(os.wait()[1])
try:
    os.wait()
except ChildProcessError:
    print("no other child")
writer.add_scalar("s", 1)
"""
    done = ended(tmp_path, rest)
    said, code, alone = done.stdout.splitlines()
    assert "belongs to the process" in said and code == "0" and alone == "no other child" and not done.stderr
    assert len(events(tmp_path)["runs"]) == 22


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_process_is_an_error_and_the_next_call_goes_on(tmp_path: Path) -> None:
    rest = f"""
writer.flush()
import glob
for path in glob.glob("/proc/[0-9]*"):
    try:
        is_it = os.readlink(path + "/cwd") == {str(tmp_path)!r} and b"florc.writing.helper" in open(path + "/cmdline", "rb").read()
    except OSError:  # it is over
        continue
    if is_it and path != f"/proc/{{os.getpid()}}":
        os.kill(int(path.split("/")[2]), signal.SIGKILL)
time.sleep(0.3)
(name,) = glob.glob("runs/*")
open(name, "ab").write(b"half of a record")
try:
    writer.add_scalar("lost", 1)
    writer.flush()
except RuntimeError as error:
    print(error)
writer.add_scalar("s", 2)
"""
    done = ended(tmp_path, rest)
    assert "is gone" in done.stdout and done.returncode == 0, done.stderr
    found = [Event.FromString(one) for one in events(tmp_path)["runs"]]
    assert [event.summary.value[0].tag for event in found[1:]] == ["h"] * 20 + ["s"]


def test_an_error_that_nobody_asked_for_is_told_at_the_end(tmp_path: Path) -> None:
    done = ended(tmp_path, 'writer.add_histogram("e", torch.empty(0))')
    assert (
        done.returncode == 0 and done.stderr == "florc: logging in the background: ValueError: The input has no element. [F601]\n"
    )


TRAIN = """
import torch, florc
from torch.utils.tensorboard import SummaryWriter
torch.manual_seed(0)
net = torch.nn.Linear(20, 20)
sgd = torch.optim.SGD(net.parameters(), 0.1)
writer = florc.background(SummaryWriter("runs/a"))
for epoch in range(4):
    for step in range(60):
        loss = net(torch.randn(16, 20)).square().mean()
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    writer.add_histogram("w", net.weight, epoch)
    writer.add_histogram("g", net.weight.grad, epoch)
    # here
    print("epoch", epoch, loss.item())
writer.close()
"""


def test_a_recorded_script_is_replayed_exactly_and_logs_nothing_again(workshop: Workshop) -> None:
    workshop.write("train.py", TRAIN)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0, recorded.err
    before = {path: path.read_bytes() for path in (workshop.path / "runs").rglob("*tfevents*")}
    logged = events(workshop.path / "runs")
    statement = 'print("P", net.weight.norm().item()); writer.add_histogram("b", net.bias, epoch)'
    workshop.write("train.py", TRAIN.replace("# here", statement))
    done = workshop.florc("replay", "train.py")
    assert done.code == 0 and "exact: " in done.said, done
    assert "sent 4 values to TensorBoard, runs/a: hindsight/b" in done.said
    after = {path: path.read_bytes() for path in (workshop.path / "runs").rglob("*tfevents*")}
    assert {path: after[path] for path in before} == before and len(after) == len(before) + 1

    truth = Workshop(workshop.path / ".plain")
    truth.path.mkdir()
    truth.write("train.py", TRAIN.replace("# here", 'print("P", net.weight.norm().item())').replace("florc.background", ""))
    plain = truth.plain("train.py")
    assert done.out.splitlines() == [line for line in plain.out.splitlines() if line.startswith("P ")]
    assert recorded.out.splitlines() == [line for line in plain.out.splitlines() if not line.startswith("P ")]
    assert logged == events(truth.path / "runs")


def test_counts_in_the_bins_of_tensorboard_are_those_of_numpy() -> None:
    from types import ModuleType

    from florc.writing.bins import install

    writer_bins = [1e-12 * 1.1**power for power in range(774)]
    bins = [-edge for edge in writer_bins[::-1]] + [0] + writer_bins
    module = ModuleType("summary")
    module.np = np  # type: ignore[attr-defined]  # modules have any attributes
    install(module, bins)
    counting: Any = vars(module)["np"]
    assert counting is not np
    random, edges = np.random.default_rng(0), np.array(bins, float)
    for size in (0, 1, 1000, 131_071, 700_001):
        for values in (
            random.normal(size=size),
            np.exp(random.normal(size=size) * 20) * random.choice([-1, 1], size),
            random.choice(edges, size),
            np.nextafter(random.choice(edges, size), random.choice([-np.inf, np.inf])),
            np.nextafter(random.choice(edges, size).astype(np.float32), np.float32(random.choice([-np.inf, np.inf]))),
            np.full(size, -0.0),
            np.maximum(random.normal(size=size), 0),
            random.choice([np.inf, -np.inf, 0.0, -0.0, -1e-45, 1e-45, 5e-324, 1e20, 3e38, -3e38], size),
            np.nan_to_num(random.integers(0, 1 << 63, size).view(np.float64)) * random.choice([-1, 1], size),
        ):
            given = values.astype(float)
            found, wanted = counting.histogram(given, bins=bins), np.histogram(given, bins=bins)
            assert found[0].dtype == wanted[0].dtype and (found[0] == wanted[0]).all() and (found[1] == wanted[1]).all()
    single = np.arange(6, dtype=np.float32)  # what is not 64 bits, or in a row, or a number, is numpy's
    for other in (single, np.arange(12.0)[::2], np.array([1.0, np.nan])):
        assert (counting.histogram(other, bins=bins)[0] == np.histogram(other, bins=bins)[0]).all()


def test_what_the_documentation_shows_is_what_happens(workshop: Workshop) -> None:
    page = Page(workshop, text_of("logging.md")).do()
    assert page.compared == 1
    found = [Event.FromString(one) for one in events(workshop.path)["runs/a"]]
    assert len(found) == 1 + 2 * 9 and found[-1].summary.value[0].tag == "loss"
