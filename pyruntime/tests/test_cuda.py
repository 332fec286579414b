"""The same on a real device: `make test-gpu`. Every test here needs CUDA."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs CUDA", allow_module_level=True)

from florc import state  # noqa: E402
from florc._native import Recorder, RunReader  # noqa: E402
from florc.process import streams  # noqa: E402
from florc.staging import Staging, devices  # noqa: E402
from recorder_scripts import MIB, RUN  # noqa: E402
from workshop import Workshop  # noqa: E402

BUSY = 2_000_000_000
"""Cycles for which the device is kept at work: about a second."""


class Bench:
    """A recorder on a store and staging before it; every waiting for the device while it takes a checkpoint raises."""

    def __init__(self, path: Path):
        self.store = str(path / ".florc")
        self.recorder = Recorder(self.store, RUN, max_staging=1 << 30, engine="thread")
        self.staging = Staging(self.recorder)
        self.staged: list[int] = []
        self.lost: list[str] = []

    def take(self, number: int, /, **places: Any) -> Any:
        torch.cuda.set_sync_debug_mode("error")
        try:
            return self.staging.submit(json.dumps({"number": number}), state.encode(places), self.staged.append, self.lost.append)
        finally:
            torch.cuda.set_sync_debug_mode("default")

    def close(self) -> dict[int, Any]:
        """Number -> what a checkpoint restores."""
        self.staging.finish()
        self.recorder.close()
        reader = RunReader(self.store, RUN)
        found = {}
        for _, payload in reader.records():
            checkpoint = json.loads(payload)
            chunks = [reader.read_chunk(chunk["hash"]) for chunk in checkpoint["chunks"]]
            found[checkpoint["number"]] = state.restore(chunks[0], chunks[1:].__getitem__, {})
        return found


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def places(seed: int) -> dict[str, Any]:
    torch.manual_seed(seed)
    big = torch.randn(1000, 1000, device="cuda")
    return {
        "big": big,
        "row": big[3],
        "turned": torch.randn(50, 70, device="cuda").t(),
        "window": torch.randn(80, 80, device="cuda")[10:40, 20:50],
        "half": torch.randn(3, device="cuda").bfloat16(),
        "flag": torch.tensor(True, device="cuda"),
        "none": torch.zeros(0, 3, device="cuda"),
        "conj": torch.randn(5, dtype=torch.complex64, device="cuda").conj(),
        "host": torch.randn(100),
    }


@pytest.mark.parametrize("room", [None, 0], ids=["copied on the device", "no memory on the device"])
def test_what_is_overwritten_after_end_is_kept_as_it_was(bench, monkeypatch, room):
    if room is not None:
        monkeypatch.setattr(devices.Cuda, "room", lambda self: room)
    bench.take(0, **places(0))  # pins memory, compiles kernels
    bench.staging.finish()
    kept = {}
    for number in (1, 2, 3):
        now = places(number)
        kept[number] = {name: value.clone() for name, value in now.items()}
        torch.cuda.synchronize()
        torch.cuda._sleep(BUSY)
        begun = time.perf_counter()
        assert bench.take(number, **now) is not None
        took = time.perf_counter() - begun
        for value in now.values():
            value.zero_()
        bench.staging.poll()
        assert len(bench.staged) == number and took < 0.3, "it waited for the device"
        bench.staging.finish()
    found = bench.close()
    assert list(found) == [0, 1, 2, 3] and bench.lost == []
    for number, expected in kept.items():
        for name, value in expected.items():
            assert torch.equal(found[number][name], value) and found[number][name].device == value.device, name
        found[number]["big"][3, 0] = 7
        assert found[number]["row"][0] == 7


def test_memory_that_is_dropped_and_used_again_at_once(bench):
    expected = []
    for number in range(8):
        value = torch.full((1 << 20,), float(number), device="cuda")
        torch.cuda._sleep(BUSY // 20)
        bench.take(number, value=value)
        del value
        torch.full((1 << 20,), -1.0, device="cuda").add_(1)
        expected.append(number)
    found = bench.close()
    assert [int(found[number]["value"].unique().item()) for number in found] == expected


def test_a_graph_that_is_captured_meanwhile_is_whole(bench):
    weights = torch.ones(1000, device="cuda")
    torch.cuda._sleep(BUSY // 4)
    bench.take(0, weights=weights)
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        weights.add_(1)
        bench.staging.poll()
        assert bench.staging.is_blocked()
    graph.replay()
    graph.replay()
    assert weights.unique().tolist() == [3.0]
    assert bench.close()[0]["weights"].unique().tolist() == [1.0]


def test_the_generator_is_read_without_waiting(bench):
    torch.rand(3, device="cuda")
    torch.cuda._sleep(BUSY)
    begun = time.perf_counter()
    bench.take(0, number=1)
    assert time.perf_counter() - begun < 0.3
    expected = torch.rand(3, device="cuda").tolist()
    bench.close()
    assert torch.rand(3, device="cuda").tolist() == expected


@pytest.mark.parametrize("room", [None, 0], ids=["copied on the device", "no memory on the device"])
def test_what_another_stream_still_writes_is_whole(bench, monkeypatch, room):
    """As a prefetcher does, which brings the next batch on a stream of its own."""
    streams.watch()
    if room is not None:
        monkeypatch.setattr(devices.Cuda, "room", lambda self: room)
    side, main = torch.cuda.Stream(), torch.cuda.current_stream()
    bench.take(0, value=torch.zeros(1 << 20, device="cuda"))  # pins memory
    bench.staging.finish()
    value = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(BUSY // 4)
        value.fill_(7)
    begun = time.perf_counter()
    assert bench.take(1, value=value) is not None
    assert time.perf_counter() - begun < 0.1, "it waited for the device"
    with torch.cuda.stream(side):
        side.wait_stream(main)
        value.zero_()
    assert bench.close()[1]["value"].unique().tolist() == [7.0]


def test_memory_of_the_host_that_the_device_still_writes_is_whole(bench):
    value = torch.full((1000,), 7.0, device="cuda")
    torch.cuda.synchronize()
    torch.cuda._sleep(BUSY // 4)
    kept = torch.zeros(1000, pin_memory=True)
    kept.copy_(value, non_blocking=True)
    encoded = state.encode({"kept": kept, "number": 1})
    assert bench.staging.submit(json.dumps({"number": 0}), encoded, bench.staged.append, bench.lost.append) is not None
    assert bench.close()[0]["kept"].unique().tolist() == [7.0]


def test_pinned_memory_is_bounded(tmp_path):
    bench = Bench(tmp_path)
    bench.staging.pool.limit = 4 * MIB
    weights = torch.zeros(900_000, device="cuda")  # 3.6 MB, in a buffer of 4 MiB
    torch.cuda._sleep(BUSY // 4)
    assert bench.take(0, w=weights) is not None and bench.take(1, w=weights) is None
    bench.staging.finish()
    assert bench.take(2, w=weights) is not None
    assert list(bench.close()) == [0, 2]


def test_saving_in_the_background(tmp_path):
    import florc

    weights = torch.randn(1000, device="cuda")
    expected = weights.clone()
    saved = florc.save({"w": weights, "row": weights[3:5]}, tmp_path / "w.pt")
    weights.zero_()
    saved.result()
    found = torch.load(tmp_path / "w.pt")
    assert torch.equal(found["w"], expected) and torch.equal(found["row"], expected[3:5])


def test_logging_in_the_background(tmp_path):
    tensorboard = pytest.importorskip("torch.utils.tensorboard")
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    import florc

    def logged(name: str, around: Any) -> Any:
        torch.manual_seed(0)
        writer = around(tensorboard.SummaryWriter(str(tmp_path / name)))
        weights = torch.randn(300, 400, device="cuda")
        for step in range(3):
            writer.add_histogram("w", weights, step)
            writer.add_scalar("norm", weights.norm(), step)
            torch.cuda._sleep(BUSY // 20)
            weights.mul_(-2).add_(step)
        writer.close()
        found = accumulator.EventAccumulator(str(tmp_path / name), {"histograms": 0, "scalars": 0}).Reload()
        return (
            [(one.step, one.histogram_value) for one in found.Histograms("w")],
            [(one.step, one.value) for one in found.Scalars("norm")],
        )

    assert logged("background", florc.background) == logged("plain", lambda writer: writer)


SCRIPT = """
    import torch
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    net = torch.nn.Sequential(torch.nn.Linear(200, 500), torch.nn.Dropout(0.1), torch.nn.Tanh(), torch.nn.Linear(500, 1))
    net = net.cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for epoch in range(8):
        total = 0.0
        for step in range(100):
            x = torch.randn(64, 200, device="cuda")
            loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, total)
"""


def test_a_recorded_training_replays_exactly(workshop: Workshop, monkeypatch: Any) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    file = workshop.write("train.py", SCRIPT)
    plain = workshop.plain("train.py")
    recorded = workshop.florc("record", "--overhead", "0.5", "train.py")
    assert (recorded.out, recorded.code) == (plain.out, 0), recorded.said
    file.write_text(file.read_text() + "    print('PROBE', net[0].weight.double().sum().item())\n")
    expected = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == expected and len(expected) == 8, replayed.said
    assert replayed.code == 0 and "exact" in replayed.said and "restored" in replayed.said
