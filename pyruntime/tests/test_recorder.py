"""The recorder in a real process: what is kept, and what a script never notices."""

import gc
import json
import os
import signal
import time

import pytest
from florc._native import DamagedError, MemoryLeaf, Policy, Recorder, RunReader, StoreError, create_store
from recorder_scripts import MIB, RUN, checkpoints, finish, gone, python, read, until


@pytest.fixture
def store(tmp_path):
    return str(tmp_path / ".florc")


@pytest.mark.parametrize("engine", ["writer", "thread", "inline"])
def test_what_is_submitted_is_read_back(store, engine):
    recorder = Recorder(store, RUN, max_staging=64 * MIB, engine=engine)
    weights = pytest.importorskip("numpy").frombuffer(bytearray(os.urandom(3 * MIB)), dtype="uint8")
    leaves = [MemoryLeaf.of_array(weights), b"bytes", bytearray(b"array"), memoryview(b"view")[::2], b""]
    recorder.prepare(4 * MIB)
    recorder.log("log", '{"loss": 0.5}')
    got = recorder.submit('{"block": 7, "loop": {"epoch": 3}}', b"graph", leaves)
    assert got["seq"] == 0 and got["bytes"] > 3 * MIB and got["stall_s"] > 0
    expected = [b"graph", bytes(weights), b"bytes", b"array", b"ve", b""]
    weights[:] = 0
    totals = recorder.close()
    assert totals["checkpoints"] == 1 and totals["errors"] == [] and totals["drained"]
    assert recorder.close() == totals and recorder.dead is None
    (done,) = recorder.poll()
    assert done.seq == 0 and done.error is None and done.errno is None
    assert done.bytes_written > 3 * MIB and done.cpu_s > 0
    reader = RunReader(store, RUN)
    assert reader.torn is None and reader.damaged is None and reader.damaged_packs() == []
    (log, (kind, payload)) = reader.records()
    assert log == ("log", '{"loss": 0.5}') and kind == "checkpoint"
    checkpoint = json.loads(payload)
    assert checkpoint["block"] == 7 and checkpoint["seq"] == 0
    assert [chunk["len"] for chunk in checkpoint["chunks"]] == [len(part) for part in expected]
    assert read(reader, checkpoint) == expected
    assert not reader.has_chunk("0" * 64)
    with pytest.raises(DamagedError, match="0" * 64):
        reader.read_chunk("0" * 64)


def test_the_engine_is_a_process_that_lets_go_of_everything(store, tmp_path):
    secret = tmp_path / "open-file"
    body = f"""
        held = open({str(secret)!r}, "w")
        r2 = Recorder({store!r}, "second")
        proc = f"/proc/{{r2.pid}}/"
        print(r2.engine, r2.fallback, open(proc + "comm").read().strip(), open(proc + "oom_score_adj").read().strip())
        print(sorted(os.readlink(proc + "fd/" + fd).split(":")[0] for fd in os.listdir(proc + "fd")))
        print(os.getpgid(r2.pid) == r2.pid, os.getpriority(os.PRIO_PROCESS, r2.pid) - os.getpriority(os.PRIO_PROCESS, 0))
        r2.close(); r.close()
        print(os.path.exists(proc))
    """
    lines = finish(python(store, body)).splitlines()
    assert lines[0] == "writer None florc-writer 1000"
    journal = os.path.join(store, "runs", "second", "journal.0")
    assert eval(lines[1]) == ["/dev/null"] * 3 + [journal, "pipe", "pipe", "pipe"]
    assert lines[2:] == ["True 10", "False"]


def test_threads_make_it_a_thread(store):
    body = f"""
        r.close()
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        r = Recorder({store!r}, RUN)
        print(r.engine, "threads" in r.fallback, r.pid)
        submit(os.urandom(MIB))
        print(r.close()["checkpoints"])
    """
    assert finish(python(store, body)) == "thread True None\n1\n"


def test_children_of_the_script_are_its_own(store):
    body = f"""
        # as the recorder left it: whoever ignores SIGCHLD hears of no exit code
        print(subprocess.run(["sh", "-c", "exit 7"]).returncode)
        seen = []
        signal.signal(signal.SIGCHLD, lambda *_: seen.append(1))
        try:
            os.wait()
        except ChildProcessError:
            print("no child")
        print(subprocess.run(["sh", "-c", "exit 7"]).returncode)
        seen.clear()
        submit(b"x" * MIB)
        r.close()
        print(len(seen), r.dead)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        r = Recorder({store!r}, "other")
        submit(b"y")
        print(r.close()["drained"])
    """
    assert finish(python(store, body)) == "7\nno child\n7\n0 None\nTrue\n"


def test_whoever_reads_the_output_sees_its_end(store):
    body = """
        submit(os.urandom(200 * MIB))
        print(r.pid, flush=True)
        os.kill(r.pid, signal.SIGSTOP)
        os._exit(0)
    """
    process = python(store, body)
    start = time.monotonic()
    out, _ = process.communicate(timeout=30)
    pid = int(out)
    try:
        # the pipe is at its end although the writer, stopped, still lives
        assert time.monotonic() - start < 30 and not gone(pid)
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: gone(pid), timeout=60)
    assert len(checkpoints(store)[1]) == 1


def test_no_room_is_none_and_never_a_wait(store):
    recorder = Recorder(store, RUN, max_staging=8 * MIB)
    room = recorder.room()
    assert room == 8 * MIB
    block = os.urandom(3 * MIB)
    outcomes = [recorder.submit("{}", b"graph", [block[n:]]) for n in range(20)]
    assert outcomes[0] is not None and outcomes[1] is not None
    assert recorder.submit("{}", b"graph", [bytes(9 * MIB)]) is None
    totals = recorder.close()
    assert totals["checkpoints"] == sum(one is not None for one in outcomes) and totals["errors"] == []


def test_logs_do_not_wait_for_a_stopped_writer(store):
    body = """
        os.kill(r.pid, signal.SIGSTOP)
        start = time.monotonic()
        for _ in range(20_000):
            r.log("log", "x" * 200)
        print(time.monotonic() - start < 2)
        os.kill(r.pid, signal.SIGCONT)
        totals = r.close()
        print(totals["logs"], totals["logs_lost"], totals["drained"])
    """
    assert finish(python(store, body)) == "True\n20000 0 True\n"
    assert len(RunReader(store, RUN).records()) == 20_000


def test_a_recorder_that_is_forgotten_still_drains(store):
    recorder = Recorder(store, RUN, max_staging=MIB)
    recorder.submit("{}", b"graph", [b"x" * 1000])
    recorder.log("log", "last")
    del recorder
    gc.collect()
    until(lambda: len(RunReader(store, RUN).records()) == 2)


def test_wrong_arguments_are_the_callers_error(store, tmp_path):
    create_store(store)
    create_store(store)
    for run in ("..", "a/b", "", "/etc"):
        with pytest.raises(ValueError):
            Recorder(store, run)
    with pytest.raises(ValueError):
        Recorder(store, RUN, engine="magic")
    recorder = Recorder(store, RUN, max_staging=MIB)
    with pytest.raises(StoreError, match="another process"):
        Recorder(store, RUN)
    with pytest.raises(TypeError):
        recorder.submit("{}", b"graph", [3])
    with pytest.raises(ValueError):
        recorder.submit("[]", b"graph", [])
    with pytest.raises(ValueError):
        recorder.log("checkpoint", "{}")
    recorder.close()
    with pytest.raises(StoreError, match="not a florc store"):
        RunReader(str(tmp_path), RUN)
    with open(os.path.join(store, "store.json"), "w") as file:
        file.write('{"format": 99}')
    with pytest.raises(StoreError, match="upgrade florc"):
        create_store(store)
    assert issubclass(DamagedError, StoreError)
    assert StoreError.__module__ == "florc._native" and StoreError.__name__ == "StoreError"


def test_policy():
    policy = Policy()
    assert policy.overhead_tolerance == pytest.approx(1 / 15) and policy.restore_ratio == 1.0
    policy.observe_compute("epoch", 10.0)
    policy.observe_compute(3, 10.0)
    assert policy.admits("epoch", 0.5) and not policy.admits("epoch", 0.7)
    policy.observe_materialize("epoch", 0.5)
    policy.add_background("epoch", 0.1)
    assert policy.times("epoch") == (1, 10.0, 1, 0.6)
    policy.charge(0.5)
    policy.elapsed(20.0)
    assert policy.charged == pytest.approx(1.1)
    assert policy.admits(3, 0.2) and not policy.admits(3, 0.3)
    policy.restore_ratio = 100.0
    assert not policy.admits(3, 0.2)
