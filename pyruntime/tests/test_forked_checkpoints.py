"""A forked child encodes the checkpoints of a script: exact on replay, and unseen by the script."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from recorder_scripts import until
from workshop import Workshop

FORKED = ("record", "--overhead", "0.95", "--engine", "fork")


@pytest.fixture
def workshop(tmp_path):
    return Workshop(tmp_path)


# -- the command ---------------------------------------------------------------------------------------------------

PLAIN = """
    import random, time
    random.seed(3)
    numbers = [random.random() for _ in range(200_000)]
    index = {i: str(i) for i in range(100_000)}
    shared = [numbers, index]
    for epoch in range(5):
        for step in range(20):
            numbers[random.randrange(200_000)] += epoch
            index[step] = f"{epoch}:{step}"
            _, part = divmod(20 * epoch + step, 7)
            time.sleep(0.02)
        # probe
        print("epoch", epoch, sum(numbers), shared[0] is numbers, _)
"""
PROBE = 'print("PROBE", _, numbers[::997], index[7], sorted(index.items())[-1], random.random.__self__.getstate()[1][:9])'


def forked(path):
    """How many checkpoints of the newest run a child encoded, and the journal's other records by kind."""
    from florc._native import RunReader

    (run,) = os.listdir(path / ".florc" / "runs")
    found = {}
    for kind, payload in RunReader(str(path / ".florc"), run).records():
        found.setdefault(kind, []).append(json.loads(payload))
    return found


@pytest.mark.parametrize("engine", ["fork", "auto", "writer"])
def test_a_large_plain_state_replays_exactly(workshop: Workshop, engine) -> None:
    workshop.write("train.py", PLAIN)
    plain = workshop.plain("train.py")
    recorded = workshop.florc(*FORKED[:-1], engine, "train.py")
    assert (recorded.out, recorded.err, recorded.code) == (plain.out, "", 0)
    assert "5 checkpoints" in recorded.said
    workshop.write("train.py", PLAIN.replace("# probe", PROBE))
    truth = workshop.plain("train.py")
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "".join(line for line in truth.out.splitlines(keepends=True) if line.startswith("PROBE"))
    assert "exact" in replayed.said and "0 run again" in replayed.said


@pytest.mark.parametrize("created", ["threading.Lock()", "(n for n in range(3))"])
def test_what_a_child_refuses_has_the_same_reason(workshop: Workshop, created) -> None:
    script = """
        import threading, time
        held, late = {"numbers": list(range(50_000))}, None
        for epoch in range(5):
            for step in range(3):
                held["numbers"][step] += 1
                if epoch >= 2:
                    late = CREATED
                time.sleep(0.05)
            print(epoch, late is None)
    """.replace("CREATED", created)
    workshop.write("train.py", script)
    plain, reasons = workshop.plain("train.py"), {}
    for engine in ("writer", "fork"):
        done = workshop.florc(*FORKED[:-1], engine, "train.py")
        assert (done.out, done.code) == (plain.out, 0)
        reasons[engine] = [why["why"] for why in forked(workshop.path)["not kept"]]
        assert "a checkpoint was lost" not in done.said
        subprocess.run(["rm", "-r", str(workshop.path / ".florc")], check=True)
    assert reasons["fork"] == reasons["writer"] and "late" in reasons["fork"][0]


def test_torch_threads_in_the_parent_do_not_stop_the_child(workshop: Workshop) -> None:
    script = """
        import time, torch
        torch.set_num_threads(2)
        torch.manual_seed(0)
        weights = torch.randn(1 << 20)
        lying = torch.randn(1 << 20)
        losses = list(range(100_000))
        for epoch in range(6):
            for step in range(5):
                weights = torch.tanh(weights @ weights.view(-1, 1)) * weights + 1e-3
                losses[step] = float(weights.sum())
                if epoch == 4:
                    lying = weights.view(1024, 1024)[::2, ::2]
                time.sleep(0.05)
            # probe
            print(epoch, weights.sum().item(), lying.sum().item())
    """
    workshop.write("train.py", script)
    begun = time.monotonic()
    recorded = workshop.florc(*FORKED, "train.py")
    assert recorded.code == 0 and time.monotonic() - begun < 60
    lost = [note["why"] for note in forked(workshop.path).get("lost checkpoint", [])]
    assert lost == ["it holds what a library with threads has to copy"]
    workshop.write("train.py", script.replace("# probe", 'print("PROBE", losses[:5], weights[:4].tolist())'))
    truth = workshop.plain("train.py")
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "".join(line for line in truth.out.splitlines(keepends=True) if line.startswith("PROBE"))


def test_memory_that_processes_share_is_not_left_to_a_child(workshop: Workshop) -> None:
    # the child would see what the script writes after the clone
    script = """
        import time, torch
        shared = torch.zeros(1000).share_memory_()
        numbers = list(range(300_000))
        for epoch in range(8):
            for step in range(3):
                shared += 1
                numbers[step] = epoch
                time.sleep(0.1)
            # probe
            print(epoch, shared.sum().item())
            shared += 1000
    """
    workshop.write("train.py", script)
    assert workshop.florc(*FORKED, "train.py").code == 0
    found = forked(workshop.path)
    lost = {note["why"] for note in found["lost checkpoint"]}
    assert lost == {"it holds memory that other processes share, which may change meanwhile"}
    assert len(found["lost checkpoint"]) == 3 and len(found["checkpoint"]) == 5
    workshop.write("train.py", script.replace("# probe", 'print("PROBE", shared[:4].tolist())'))
    truth = workshop.plain("train.py")
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "".join(line for line in truth.out.splitlines(keepends=True) if line.startswith("PROBE"))


def test_a_script_killed_right_after_the_clone(workshop: Workshop) -> None:
    script = """
        import os, signal, time
        numbers = list(range(300_000))
        for epoch in range(4):
            for step in range(10):
                numbers[step] = epoch
                time.sleep(0.05)
            if epoch == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            print(epoch, flush=True)
    """
    workshop.write("train.py", script)
    assert workshop.florc(*FORKED, "train.py").code == -signal.SIGKILL
    until(lambda: len(forked(workshop.path).get("checkpoint", [])) == 3)


def test_children_and_pools_of_the_script_are_left_alone(workshop: Workshop) -> None:
    script = """
        import multiprocessing, os, subprocess, time

        def square(n):
            return n * n

        def main():
            numbers = list(range(200_000))
            for epoch in range(4):
                for step in range(4):
                    numbers[step] += epoch
                    time.sleep(0.05)
                with multiprocessing.get_context("fork").Pool(2) as pool:
                    print(pool.map(square, range(5)), subprocess.run(["false"]).returncode)
                pid = os.fork()
                if pid == 0:
                    for step in range(3):
                        numbers[step] += 1
                    os._exit(3)
                print(os.waitstatus_to_exitcode(os.wait()[1]), numbers[:4])

        if __name__ == "__main__":
            main()
    """
    workshop.write("train.py", script)
    plain = workshop.plain("train.py")
    recorded = workshop.florc(*FORKED, "train.py")
    assert (recorded.out, recorded.err, recorded.code) == (plain.out, plain.err, 0)
    assert "a checkpoint was lost" not in recorded.said


@pytest.mark.parametrize("engine", ["auto", "fork"])
def test_without_a_writer_process_one_line_says_so(workshop: Workshop, monkeypatch, engine: str) -> None:
    workshop.write(
        "sitecustomize.py",
        """
        import sys, threading, time
        if "record" in sys.argv:
            threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
    """,
    )
    workshop.write(
        "train.py",
        """
        for epoch in range(2):
            for step in range(2):
                x = step
            print(epoch)
    """,
    )
    known = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(workshop.path), *([known] if known else [])]))
    done = workshop.florc("record", "--engine", engine, "train.py")
    assert done.out == "0\n1\n" and done.code == 0
    assert done.said.count("no writer process") == 1 and "threads" in done.said and "lost" in done.said
    assert ("no forked child encodes checkpoints" in done.said) == (engine == "fork")


def test_where_a_library_has_threads_no_child_is_asked(workshop: Workshop) -> None:
    """One that names its threads, as XLA, polars and Tokio do: Python does not know of it."""
    script = """
        import _thread, ctypes, time
        def pool():
            ctypes.CDLL(None).prctl(15, b"pool-0", 0, 0, 0)
            time.sleep(1000)
        _thread.start_new_thread(pool, ())
        numbers = list(range(300_000))
        for epoch in range(6):
            for step in range(3):
                numbers[step] = epoch
                time.sleep(0.05)
            print(epoch, numbers[:3])
    """
    workshop.write("train.py", script)
    recorded = workshop.florc(*FORKED, "train.py")
    found = forked(workshop.path)
    assert recorded.code == 0 and "F403" not in recorded.said and len(found["checkpoint"]) >= 4, recorded.said
    asks = "import time; from florc.record.forking import _are_others_at_work as asked; print(asked()); POOL; time.sleep(0.2); print(asked())"
    for pool, answer in (
        ("threading.Thread(target=time.sleep, args=(9,), daemon=True).start()", False),
        ("_thread.start_new_thread(pool, ())", True),
    ):
        head = "import _thread, ctypes, threading, time\ndef pool():\n    ctypes.CDLL(None).prctl(15, b'pool-0', 0, 0, 0); time.sleep(9)\n"
        workshop.write("asks.py", head + asks.replace("POOL", pool))
        assert workshop.run(sys.executable, "asks.py").out == f"False\n{answer}\n"
