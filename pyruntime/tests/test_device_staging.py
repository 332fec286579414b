"""Checkpoints of a device's memory: right when it is overwritten at once, in order, bounded, never waited for."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from fake_device import FakeDevice, install  # noqa: E402
from florc import state  # noqa: E402
from florc._native import Recorder, RunReader  # noqa: E402
from florc.process import streams  # noqa: E402
from florc.staging import Staging, devices, pinned  # noqa: E402
from florc.support import static  # noqa: E402
from recorder_scripts import MIB, RUN, until  # noqa: E402


class Bench:
    """A recorder on a store, staging before it, and a fake device."""

    def __init__(self, path: Path, patch: Any, engine: str = "inline", limit: int = 64 * MIB, **device: Any):
        self.device = install(FakeDevice(**device), patch)
        self.store = str(path / ".florc")
        self.recorder = Recorder(self.store, RUN, max_staging=64 * MIB, engine=engine)
        self.staging = Staging(self.recorder, limit)
        self.staged: list[int] = []
        self.lost: list[str] = []

    def take(self, number: int, **places: Any) -> Any:
        """A checkpoint now; the seconds it takes, or None."""
        header = json.dumps({"number": number})
        return self.staging.submit(header, state.encode(places), self.staged.append, self.lost.append)

    def settle(self, count: int) -> None:
        """Poll until so many have reached the recorder."""

        def reached() -> bool:
            self.staging.poll()
            return len(self.staged) == count

        until(reached)

    def close(self) -> dict[int, Any]:
        """Number -> what a checkpoint restores, in the order of the journal."""
        self.staging.finish(0.2, 5)
        self.recorder.close()
        reader = RunReader(self.store, RUN)
        found = {}
        for kind, payload in reader.records():
            checkpoint = json.loads(payload)
            chunks = [reader.read_chunk(chunk["hash"]) for chunk in checkpoint["chunks"]]
            found[checkpoint["number"]] = state.restore(chunks[0], chunks[1:].__getitem__, {})
        return found


@pytest.fixture
def bench(tmp_path, monkeypatch):
    def patch(owner, name, value):
        monkeypatch.setattr(owner, name, value)

    return lambda **options: Bench(tmp_path, patch, **options)


def net() -> dict[str, Any]:
    """Tensors of many layouts, two of them over the same memory, and values in host memory."""
    big = torch.randn(40, 30)
    return {
        "big": big,
        "row": big[3],
        "turned": torch.randn(5, 7).t(),
        "window": torch.randn(8, 8)[1:4, 2:5],
        "half": torch.randn(3, dtype=torch.bfloat16),
        "flag": torch.tensor(True),
        "none": torch.zeros(0, 3),
        "array": np.arange(1000.0),
        "list": list(range(300)),
        "conj": torch.randn(3, dtype=torch.complex64).conj(),
    }


def overwrite(places: dict[str, Any]) -> None:
    """What a training does next."""
    for value in places.values():
        if isinstance(value, torch.Tensor):
            value.zero_()
        elif isinstance(value, np.ndarray):
            value[:] = -1
        else:
            value.clear()


def copied(places: dict[str, Any]) -> dict[str, Any]:
    return {name: value.clone() if isinstance(value, torch.Tensor) else value.copy() for name, value in places.items()}


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        assert (
            torch.equal(found[name], value)
            if isinstance(value, torch.Tensor)
            else (found[name] == value) is True or np.array_equal(found[name], value)
        ), name


@pytest.mark.parametrize("engine", ["inline", "thread", "writer"])
@pytest.mark.parametrize("room", [1 << 30, 0], ids=["copied on the device", "no memory on the device"])
def test_what_is_overwritten_after_end_is_kept_as_it_was(bench, engine, room):
    b = bench(engine=engine, room_bytes=room)
    places = net()
    expected = copied(places)
    assert b.take(0, **places) > 0
    overwrite(places)
    b.staging.poll()
    assert b.staged == [] and b.device.pins
    assert (b.device.clones > 0, b.device.held) == ((True, 0) if room else (False, 1))
    b.device.advance()
    b.settle(1)
    found = b.close()[0]
    assert_same(found, expected)
    found["big"][3, 0] = 77
    assert found["row"][0] == 77
    assert b.lost == []


def test_several_on_their_way_arrive_in_order_and_whole(bench):
    b = bench()
    weights, host = torch.zeros(1000), np.zeros(10)
    for number in range(5):
        weights.fill_(number)
        host[:] = number
        assert b.take(number, weights=weights, host=host) is not None
        if number == 2:
            b.device.advance()
            b.settle(3)
    assert b.take(5, plain=[1, 2]) is not None  # has nothing to wait for
    assert b.staged == [0, 1, 2, 3]
    b.device.advance()
    b.settle(6)
    found = b.close()
    assert list(found) == [0, 1, 2, 5, 3, 4]
    assert all(found[n]["weights"].eq(n).all() and (found[n]["host"] == n).all() for n in range(5))


def test_pinned_memory_is_bounded_and_used_again(bench):
    b = bench(limit=4 * MIB)
    weights = torch.zeros(400_000)  # 1.6 MB, in a buffer of 2 MiB
    assert b.take(0, w=weights) is not None and b.take(1, w=weights) is not None
    pins = b.device.pins
    assert b.take(2, w=weights) is None and b.device.pins == pins and b.staging.pool.total <= 4 * MIB
    b.device.advance()
    b.settle(2)
    assert b.staging.waiting == 0
    assert b.take(3, w=weights) is not None and b.device.pins == pins
    assert b.take(4, w=torch.zeros(2_000_000)) is None
    b.device.advance()
    b.settle(3)
    assert b.take(5, w=torch.zeros(1000)) is not None and b.staging.pool.total <= 4 * MIB
    b.device.advance()
    assert sorted(b.close()) == [0, 1, 3, 5] and b.lost == []


def test_larger_than_the_recorders_memory_is_not_begun(bench):
    b = bench(limit=1 << 40)
    assert b.take(0, w=torch.zeros(17 * MIB)) is None and b.device.pins == 0


@pytest.mark.parametrize("engine", ["thread", "writer"])
def test_larger_than_the_recorders_memory_goes_in_pieces(bench, engine):
    b = bench(engine=engine)
    places = {**net(), "large": torch.randn(25 * MIB), "more": torch.randn(3 * MIB), "last": torch.randn(7)}
    expected = copied(places)
    assert b.staging.copy_seconds(state.encode(places), 1e10) > 0.1
    assert b.take(0, **places) is not None and b.staged == [0] and b.device.pins == 0
    overwrite(places)
    # the estimate follows what was measured, and small ones go beside the training as before
    assert b.staging.copy_seconds(state.encode(places), 1e10) != pytest.approx(112 * MIB / 5e8, rel=1e-6)
    assert b.take(1, **net()) is not None
    b.device.advance()
    b.settle(2)
    assert b.take(2, **expected) is not None
    found = b.close()
    assert_same(found[0], expected)
    assert_same(found[2], expected)
    assert sorted(found) == [0, 1, 2] and b.lost == []


@pytest.mark.parametrize("engine", ["thread", "writer"])
def test_a_device_that_fails_between_pieces_costs_the_checkpoint(bench, engine):
    b = bench(engine=engine)

    class Failing(state.DeviceLeaf):
        @property
        def tensor(self):
            raise RuntimeError("CUDA error: device-side assert triggered")

    for last in (0, 1, 2):
        encoded = state.encode({"a": torch.randn(12 * MIB), "b": torch.randn(9 * MIB), "c": torch.randn(4 * MIB)})
        leaves = list(encoded.leaves)
        leaves[last] = Failing(*leaves[last])
        with pytest.raises(RuntimeError, match="device-side"):
            b.staging.submit("{}", encoded._replace(leaves=leaves), b.staged.append, b.lost.append)
    expected = torch.randn(25 * MIB)
    assert b.take(7, a=expected) is not None
    found = b.close()
    assert sorted(found) == [7] and torch.equal(found[7]["a"], expected)


def test_nothing_of_a_device_goes_in_pieces_beside_a_thread_of_the_users(bench, monkeypatch):
    monkeypatch.setattr(static, "is_users", lambda file: file == __file__)
    b = bench(engine="thread")
    end = threading.Event()
    library, users = threading.Thread(target=end.wait), threading.Thread(target=lambda: end.wait())
    library.start()
    try:
        assert b.take(0, large=torch.randn(25 * MIB)) is not None
        users.start()
        assert b.take(1, large=torch.randn(25 * MIB)) is None
    finally:
        end.set()
        library.join()
        users.join()
    assert b.take(2, large=torch.randn(25 * MIB)) is not None and sorted(b.close()) == [0, 2]


def test_a_device_that_never_finishes_costs_its_checkpoints_and_no_more(bench):
    b = bench()
    assert b.take(0, w=torch.ones(10)) is not None
    b.device.advance()
    b.settle(1)
    assert b.take(1, w=torch.ones(10)) is not None and b.take(2, w=torch.ones(10)) is not None
    assert list(b.close()) == [0]
    assert len(b.lost) == 2 and "0.2 s after the end of the run" in b.lost[0] and b.staging.waiting == 0


def test_a_device_that_fails_costs_the_checkpoint(bench):
    b = bench()
    b.take(0, w=torch.ones(10))
    b.device.broken = True
    b.staging.poll()
    assert b.lost == ["RuntimeError: CUDA error: device-side assert triggered"] and b.staging.pool.total == 0
    b.device.broken = False
    b.take(1, w=torch.ones(10))
    b.device.advance()
    assert list(b.close()) == [1]


def test_no_memory_for_the_copy_after_all(bench):
    b = bench()
    b.device.out_of_memory = True
    with pytest.raises(torch.cuda.OutOfMemoryError):
        b.take(0, w=torch.ones(10))
    assert b.staging.pool.total == 0 and b.staging.waiting == 0
    b.device.out_of_memory = False
    b.take(1, w=torch.ones(10))
    b.device.advance()
    assert list(b.close()) == [1]


def test_nothing_is_taken_while_a_graph_is_captured(bench, monkeypatch):
    b = bench()
    b.take(0, w=torch.ones(10))
    b.device.advance()
    with monkeypatch.context() as patched:
        patched.setattr(devices, "capturing", lambda: True)
        b.staging.poll()  # asks no event
        assert b.staging.is_blocked() and b.take(1, w=torch.ones(10)) is None and b.staged == []
    assert list(b.close()) == [0]


def test_the_disk_may_lag(bench):
    """The recorder has no room while its writer is slow: what has arrived waits, the training does not."""
    b = bench()
    full, submit = [True], b.recorder.submit

    class Full:
        dead = None

        def submit(self, *parts: Any) -> Any:
            return None if full[0] else submit(*parts)

    b.staging._worker._recorder = Full()
    b.take(0, w=torch.ones(10))
    b.device.advance()
    b.staging.poll()
    assert b.staged == [] and b.staging.waiting > 0
    full[0] = False
    assert list(b.close()) == [0]


def test_a_number_may_be_known_later_than_the_disk_is_done(bench):
    b = bench()
    assert b.recorder.submit('{"number": 0}', b"{}", [])["seq"] == 0
    assert b.staging.finished([]) == []
    assert [done.seq for done in b.staging.finished([0])] == [0] and b.staging.finished([0]) == []


def test_without_a_thread_it_is_handed_over_at_once(bench, monkeypatch):
    b = bench()

    def none(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("_thread.start_new_thread", none)
    b.take(0, w=torch.ones(10))
    b.device.advance()
    b.staging.poll()
    assert b.staged == [0] and list(b.close()) == [0]


def test_what_cuda_is_asked_for_and_in_which_order(monkeypatch):
    """Without a device: the calls of devices.Cuda, on names and signatures that this torch has."""
    calls: list[str] = []

    class Stream:
        device_index = 0

        def __init__(self, name: Any = "", **known: int):
            self.name = "side" if isinstance(name, torch.device) else name or "prefetcher's"
            self.stream_id = known.get("stream_id", hash(self.name))

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Stream) and other.name == self.name

        __hash__ = None  # type: ignore[assignment]  # nobody asks for it

        def record_event(self) -> str:
            calls.append(f"{self.name} records")
            return f"event of {self.name}"

        def wait_event(self, event: str) -> None:
            calls.append(f"{self.name} waits for {event}")

    played = {
        "Stream": Stream,
        "current_stream": lambda device: Stream("compute"),
        "default_stream": lambda device: Stream("default"),
        "stream": lambda s: torch.no_grad(),
        "mem_get_info": lambda device: (500, 1000),
        "max_memory_allocated": lambda device: 300,
        "memory_reserved": lambda device: 400,
    }
    for name in played:
        assert hasattr(torch.cuda, name)
        monkeypatch.setattr(torch.cuda, name, played[name])
    assert hasattr(torch.cuda.streams.Stream, "record_event") and hasattr(torch.cuda.streams.Stream, "wait_event")
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda self, stream: calls.append(f"kept for {stream.name}"))
    monkeypatch.setattr(torch.Tensor, "copy_", lambda self, source, non_blocking: calls.append(f"copy {non_blocking}"))
    monkeypatch.setattr(streams, "_known", {(0, 7): 1, (1, 8): 1})
    device = devices.Cuda("cpu")
    assert device.room() == 500 + 400 - 300 - 50
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: 1)
    assert device.room() == 550, "a peak is remembered when the script resets it"
    parts = [(torch.arange(5, dtype=torch.uint8), 0), (torch.arange(7, dtype=torch.uint8), 64)]
    order = ["default records", "compute waits for event of default"]
    order += ["prefetcher's records", "compute waits for event of prefetcher's"]
    buffer = device.gather(parts, 71)
    assert calls == [*order, "kept for compute", "kept for compute"]
    assert buffer[:5].tolist() == list(range(5)) and buffer[64:].tolist() == list(range(7))
    for hold in (False, True):
        calls.clear()
        assert device.drain([(buffer, torch.empty(71, dtype=torch.uint8))], hold) == "event of side"
        expected = ["compute records", "side waits for event of compute", "copy True", "kept for side", "side records"]
        assert calls == order * hold + expected + ["compute waits for event of side"] * hold


def test_layout():
    sizes = [(0, 5), (2, 100), (3, pinned.BLOCK), (4, 3 * pinned.BLOCK), (7, 64), (9, 1)]
    blocks = pinned.layout(sizes)
    assert [block.leaves for block in blocks] == [[(0, 0), (2, 64)], [(3, 0)], [(4, 0)], [(7, 0), (9, 64)]]
    assert [block.nbytes for block in blocks] == [164, pinned.BLOCK, 3 * pinned.BLOCK, 65]
    assert [pinned.rounded(n) for n in (1, 1 << 20, (1 << 20) + 1)] == [pinned.SMALLEST, 1 << 20, 1 << 21]
