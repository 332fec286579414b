"""The recorder when things go wrong: nothing acknowledged is lost, and the script goes on."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import time

import pytest
from florc._native import DamagedError, Recorder, RunReader, StoreError
from recorder_scripts import MIB, RUN, checkpoints, finish, gone, python, read, until


@pytest.fixture
def store(tmp_path):
    return str(tmp_path / ".florc")


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
        print(outcome(os.urandom(MIB)).error)
        r.log("log", "before")
        failed = outcome(os.urandom(8 * MIB))
        print("File too large" in failed.error, failed.errno)
        r.log("log", "after")
        print(outcome(os.urandom(2 * MIB)).error, r.dead)
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
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)], check=False)
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
                acknowledged += sum(done.error is None for done in r.poll())
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


def test_damage_of_any_part_is_named(store):
    recorder = Recorder(store, RUN, max_staging=4 * MIB)
    recorder.log("log", '{"loss": 0.5}')
    recorder.submit("{}", b"graph", [b"leaf"])
    recorder.log("log", '{"loss": 0.25}')
    recorder.close()
    _reader, (_found,) = checkpoints(store)
    (name,) = os.listdir(os.path.join(store, "packs"))

    def change(path, at):
        with open(path, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1]))

    pack = os.path.join(store, "packs", name)
    # the trailer has 48 bytes, before it lies the last line of the index: the hash of a chunk comes first
    change(pack, os.path.getsize(pack) - 48 - 57)
    why = f"the index in {pack} is damaged: it does not match its hash"
    assert RunReader(store, RUN).damaged_packs() == [(name, why)]
    journal = os.path.join(store, "runs", RUN, "journal.0")
    with open(journal, "rb") as file:
        at = file.read().index(b"0.5")
    change(journal, at)
    damaged = RunReader(store, RUN)
    assert damaged.damaged == "byte 16: the record does not match its hash" and damaged.records() == []
