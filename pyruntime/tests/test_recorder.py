"""The recorder in a real process: what survives, what a script never notices."""

import ctypes
import errno
import gc
import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from florc._native import (
    DamagedError,
    Policy,
    Recorder,
    RunReader,
    StoreError,
    create_store,
)

RUN = "20260101-120000-abc123"
MIB = 1 << 20


def python(store, body, **options):
    """Starts a script with a recorder `r` on `store`."""
    start = """
        import ctypes, os, resource, signal, subprocess, sys, threading, time
        from florc._native import Recorder
        RUN, MIB = {run!r}, 1 << 20
        r = Recorder({store!r}, RUN, max_staging=256 * MIB)
        def submit(*leaves):
            return r.submit('{{"block": 1}}', b"graph", list(leaves))
    """.format(run=RUN, store=str(store))
    script = textwrap.dedent(start) + textwrap.dedent(body)
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, **options)


def finish(process, timeout=60):
    """Standard output of a script that must succeed."""
    try:
        out, _ = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == 0, out
    return out


def until(condition, timeout=30):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("did not happen in time")


def gone(pid):
    """True once the process has ended, reaped or not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def checkpoints(store):
    reader = RunReader(store, RUN)
    found = [json.loads(payload) for kind, payload in reader.records() if kind == "checkpoint"]
    assert reader.damaged is None
    return reader, found


def read(reader, checkpoint):
    return [reader.read_chunk(chunk["hash"]) for chunk in checkpoint["chunks"]]


@pytest.fixture
def store(tmp_path):
    return str(tmp_path / ".florc")


@pytest.mark.parametrize("engine", ["writer", "thread", "inline"])
def test_what_is_submitted_is_read_back(store, engine):
    recorder = Recorder(store, RUN, max_staging=64 * MIB, engine=engine)
    weights = (ctypes.c_char * (3 * MIB)).from_buffer_copy(os.urandom(3 * MIB))
    leaves = [(ctypes.addressof(weights), 3 * MIB), b"bytes", bytearray(b"array"), memoryview(b"view")[::2], b""]
    recorder.prepare(4 * MIB)
    recorder.log("log", '{"loss": 0.5}')
    got = recorder.submit('{"block": 7, "loop": {"epoch": 3}}', b"graph", leaves)
    assert got["seq"] == 0 and got["bytes"] > 3 * MIB and got["stall_s"] > 0
    expected = [b"graph", bytes(weights), b"bytes", b"array", b"ve", b""]
    ctypes.memset(weights, 0, 3 * MIB)
    totals = recorder.close()
    assert totals["checkpoints"] == 1 and totals["errors"] == [] and totals["drained"]
    assert recorder.close() == totals and recorder.dead is None
    (done,) = recorder.poll()
    assert done["seq"] == 0 and done["error"] is None and done["errno"] is None
    assert done["bytes_written"] > 3 * MIB and done["cpu_s"] > 0
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
        print(os.getsid(r2.pid) == r2.pid)
        r2.close(); r.close()
        print(os.path.exists(proc))
    """
    lines = finish(python(store, body)).splitlines()
    assert lines[0] == "writer None florc-writer 1000"
    journal = os.path.join(store, "runs", "second", "journal.0")
    assert eval(lines[1]) == ["/dev/null"] * 3 + [journal, "pipe", "pipe"]
    assert lines[2:] == ["True", "False"]


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


@pytest.mark.parametrize("size", [1, 40])
def test_a_killed_run_loses_nothing_that_was_staged(store, size):
    body = f"""
        blocks = [os.urandom({size} * MIB) for _ in range(5)]
        for number, block in enumerate(blocks):
            assert submit(block)["seq"] == number
            r.log("log", str(number))
        import hashlib
        print(*[hashlib.sha256(block).hexdigest() for block in blocks], r.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    process = python(store, body)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    *hashes, pid = out.split()
    until(lambda: gone(int(pid)), timeout=60)
    reader, found = checkpoints(store)
    assert [hashlib.sha256(read(reader, one)[1]).hexdigest() for one in found] == hashes
    assert [payload for kind, payload in reader.records() if kind == "log"] == list("01234")
    assert reader.torn is None
    # and the journal can be continued
    again = Recorder(store, RUN, max_staging=MIB)
    assert again.submit("{}", b"graph", [])["seq"] == 5
    again.close()


def test_signals_to_the_group_do_not_end_the_writer(store):
    body = """
        submit(os.urandom(60 * MIB))
        print(r.pid, flush=True)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            os.kill(r.pid, number)
        os.killpg(0, signal.SIGKILL)
    """
    process = python(store, body, start_new_session=True)
    out, _ = process.communicate(timeout=60)
    until(lambda: gone(int(out)), timeout=60)
    assert len(checkpoints(store)[1]) == 1


def test_children_of_the_script_are_its_own(store):
    body = """
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
        r = Recorder(sys.argv[0] and r"%s", "other")
        submit(b"y")
        print(r.close()["drained"])
    """ % store
    assert finish(python(store, body)) == "no child\n7\n0 None\nTrue\n"


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


def test_a_fork_of_the_script_is_inert(store):
    body = """
        submit(b"a" * MIB)
        child = os.fork()
        if child == 0:
            r.abandon()
            quiet = submit(b"b") is None and r.poll() == [] and r.room() == 0 and r.close()["checkpoints"] == 0
            r.log("log", "from the child")
            time.sleep(1.5)
            os._exit(0 if quiet and r.dead else 1)
        forgetful = os.fork()
        if forgetful == 0:
            quiet = submit(b"c") is None and r.close()["checkpoints"] == 0
            del r
            time.sleep(1.5)
            os._exit(0 if quiet else 1)
        print(r.close(20)["drained"])
        print(os.waitpid(child, 0)[1], os.waitpid(forgetful, 0)[1])
    """
    assert finish(python(store, body)) == "True\n0 0\n"
    reader, found = checkpoints(store)
    assert len(found) == 1 and len(reader.records()) == 1


def test_a_fork_that_holds_the_pipe_does_not_keep_the_writer(store):
    body = """
        if os.fork() == 0:
            os.close(1)
            time.sleep(20)
            os._exit(0)
        submit(b"a" * MIB)
        print(r.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    process = python(store, body)
    out, _ = process.communicate(timeout=30)
    start = time.monotonic()
    until(lambda: gone(int(out)), timeout=15)
    assert time.monotonic() - start < 10
    assert len(checkpoints(store)[1]) == 1


def test_a_full_disk_costs_checkpoints_and_nothing_else(store):
    # a limit on file sizes is a full disk for every file that grows beyond it
    body = f"""
        r.close()
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MIB, 4 * MIB))
        r = Recorder({store!r}, RUN)
        def outcome(leaf):
            submit(leaf)
            while not (done := r.poll()):
                time.sleep(0.01)
            return done[0]
        print(outcome(os.urandom(MIB))["error"])
        r.log("log", "before")
        failed = outcome(os.urandom(8 * MIB))
        print("File too large" in failed["error"], failed["errno"])
        r.log("log", "after")
        print(outcome(os.urandom(2 * MIB))["error"], r.dead)
        for _ in range(10):
            r.log("log", "x" * MIB)
        r.log("log", "small")
        totals = r.close()
        print(totals["checkpoints"], 6 <= totals["logs_lost"] <= 10, len(totals["errors"]), totals["drained"])
    """
    out = finish(python(store, body)).splitlines()
    assert out == ["None", f"True {errno.EFBIG}", "None None", "2 True 2 True"]
    reader, found = checkpoints(store)
    assert [len(read(reader, one)[1]) for one in found] == [MIB, 2 * MIB]
    logs = [payload for kind, payload in reader.records() if kind == "log"]
    assert logs[:2] == ["before", "after"] and logs[-1] == "small"
    assert reader.torn is None and reader.damaged_packs() == []
    assert all(name.endswith(".pack") for name in os.listdir(os.path.join(store, "packs")))


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_real_full_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)])
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        store = str(disk / ".florc")
        body = """
            for _ in range(4):
                submit(os.urandom(2 * MIB))
            for number in range(3000):
                r.log("log", "x" * 1000)
            totals = r.close()
            print(totals["checkpoints"], any("No space left" in error for error in totals["errors"]), r.dead)
        """
        made, said, dead = finish(python(store, body)).split()
        assert 1 <= int(made) < 4 and said == "True" and dead == "None"
        reader, found = checkpoints(store)
        assert len(found) == int(made) and all(read(reader, one) for one in found)
        assert reader.torn is None and reader.damaged_packs() == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_dead_writer_is_reported_once_and_stops_nothing(store):
    body = """
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        submit(b"a")
        while not r.poll():
            time.sleep(0.01)
        os.kill(r.pid, signal.SIGKILL)
        while r.dead is None:
            r.log("log", "x")
            time.sleep(0.01)
        print(r.dead)
        print(submit(b"b"), r.room())
        for _ in range(1000):
            r.log("log", "x")
        totals = r.close()
        print(len(totals["errors"]), totals["checkpoints"], totals["drained"], totals["logs_lost"] >= 1000)
    """
    out = finish(python(store, body)).splitlines()
    assert out == ["the writer is gone: it was ended by signal 9", "None 0", "1 1 False True"]
    assert len(checkpoints(store)[1]) == 1


def test_killed_writers_leave_whole_checkpoints(store):
    body = f"""
        blocks = [os.urandom(MIB) + bytes(MIB) for _ in range(8)]
        for round in range(10):
            r = Recorder({store!r}, "round-%d" % round, max_staging=64 * MIB)
            submitted, acknowledged, end = 0, 0, time.monotonic() + 0.05 + round * 0.02
            while r.dead is None:
                submitted += submit(os.urandom(8) + blocks[submitted % 8]) is not None
                r.log("log", "x" * 100)
                acknowledged += sum(done["error"] is None for done in r.poll())
                if time.monotonic() > end:
                    os.kill(r.pid, signal.SIGKILL)
                    end += 1000
            print(acknowledged, submitted)
    """
    said = finish(python(store, body)).splitlines()
    assert len(said) == 10
    for round, line in enumerate(said):
        reader = RunReader(store, f"round-{round}")
        found = [json.loads(payload) for kind, payload in reader.records() if kind == "checkpoint"]
        acknowledged, submitted = map(int, line.split())
        assert acknowledged <= len(found) <= submitted and reader.damaged is None
        assert all(len(part) == chunk["len"] for one in found for part, chunk in zip(read(reader, one), one["chunks"]))
    assert reader.damaged_packs() == []


def test_a_script_that_closes_all_files_is_not_written_into(store, tmp_path):
    other = tmp_path / "other"
    body = f"""
        os.closerange(3, 4096)
        mine = [os.open({str(other)!r}, os.O_RDWR | os.O_CREAT) for _ in range(1000)]
        for _ in range(3):
            r.log("log", "x")
            submit(b"x")
        print(r.dead is not None, r.close()["drained"])
        print(all(os.fstat(fd) for fd in mine))
    """
    assert finish(python(store, body)) == "True False\nTrue\n"
    assert other.read_bytes() == b""


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


def test_close_gives_up_in_time_and_the_writer_goes_on(store):
    body = """
        submit(os.urandom(MIB))
        os.kill(r.pid, signal.SIGSTOP)
        start = time.monotonic()
        totals = r.close(0.3)
        print(time.monotonic() - start < 5, totals["drained"], "goes on" in totals["errors"][0], r.pid)
    """
    *said, pid = finish(python(store, body)).split()
    assert said == ["True", "False", "True"]
    os.kill(int(pid), signal.SIGCONT)
    until(lambda: gone(int(pid)))
    assert len(checkpoints(store)[1]) == 1


def test_ctrl_c_ends_a_long_close(store):
    body = """
        submit(os.urandom(MIB))
        os.kill(r.pid, signal.SIGSTOP)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            r.close(60)
        except KeyboardInterrupt:
            print("interrupted")
        os.kill(r.pid, signal.SIGCONT)
        print(r.close()["checkpoints"])
    """
    start = time.monotonic()
    assert finish(python(store, body)) == "interrupted\n1\n"
    assert time.monotonic() - start < 30


def test_a_recorder_that_is_forgotten_still_drains(store):
    recorder = Recorder(store, RUN, max_staging=MIB)
    recorder.submit("{}", b"graph", [b"x" * 1000])
    recorder.log("log", "last")
    del recorder
    gc.collect()
    until(lambda: len(RunReader(store, RUN).records()) == 2)


def test_damage_is_named(store):
    recorder = Recorder(store, RUN, max_staging=4 * MIB)
    noise = os.urandom(MIB)
    recorder.submit("{}", b"graph", [noise])
    recorder.close()
    (name,) = os.listdir(os.path.join(store, "packs"))
    pack = os.path.join(store, "packs", name)
    with open(pack, "r+b") as file:
        file.seek(5000)
        byte = file.read(1)
        file.seek(5000)
        file.write(bytes([byte[0] ^ 1]))
    reader, (found,) = checkpoints(store)
    chunk = found["chunks"][1]["hash"]
    with pytest.raises(DamagedError) as caught:
        reader.read_chunk(chunk)
    assert chunk in str(caught.value) and name in str(caught.value)
    with open(pack, "r+b") as file:
        file.truncate(70)
    with pytest.raises(DamagedError, match="not readable: .*" + name):
        RunReader(store, RUN).read_chunk(chunk)
    journal = os.path.join(store, "runs", RUN, "journal.0")
    size = os.path.getsize(journal)
    os.truncate(journal, size - 3)
    torn = RunReader(store, RUN)
    assert torn.torn.startswith("byte 16: ") and torn.records() == [] and torn.damaged is None
    with open(journal, "r+b") as file:
        file.seek(18)
        file.write(b"\xff")
    assert RunReader(store, RUN).damaged.startswith("byte 16: ")
    with pytest.raises(StoreError, match="damaged"):
        Recorder(store, RUN)


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
