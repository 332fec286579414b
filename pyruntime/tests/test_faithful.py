"""R0: recording never changes what a script prints, returns or raises."""

from __future__ import annotations

import json
import re

import pytest
from workshop import Workshop

SCRIPTS = {
    "plain": """
        import sys
        print("arguments", sys.argv[1:])
        total = 0
        for epoch in range(3):
            for step in range(5):
                total += hash(str(step)) % 1
                print(epoch, step, sorted({"a", "b"}), end="; ")
            print()
        print(__name__, __file__ is not None, total)
    """,
    "raises half-way": """
        def inner(x):
            for i in range(3):
                for j in range(3):
                    if x + i + j == 4:
                        raise ValueError(f"half-way at {i}, {j}")
        for epoch in range(5):
            print("epoch", epoch, flush=True)
            for batch in [1, 2]:
                inner(epoch)
    """,
    "chained exceptions": """
        for epoch in range(2):
            for batch in sorted([3, 1]):
                try:
                    {}["missing"]
                except KeyError as error:
                    if epoch == 1:
                        raise RuntimeError("while handling") from error
    """,
    "exit code": "import sys\nprint('leaving')\nsys.exit(7)\n",
    "exit message": "import sys\nsys.exit('a message')\n",
    "exit from a loop": """
        for epoch in range(3):
            for step in sorted([1, 2]):
                print(epoch, step)
                if epoch == 1:
                    raise SystemExit(3)
    """,
    "syntax of its own": '''
        """docstring"""
        from __future__ import annotations
        import warnings, inspect
        def f(x: int) -> int:
            for i in range(2):
                for j in range(2):
                    x += len(str(x))
            return x
        print(f(1), inspect.getsource(f))
        for epoch in range(2):
            for step in map(str, range(2)):
                warnings.warn(f"warned {step}", stacklevel=1)
        print(__doc__, [name for name in dir() if not name.startswith("_")])
    ''',
    "threads, forks, subprocesses": """
        import os, subprocess, sys, threading, time
        out = []
        def is_alone():
            return len(os.listdir("/proc/self/task")) == 1
        for epoch in range(2):
            for step in sorted([2, 1]):
                thread = threading.Thread(target=out.append, args=(step,))
                thread.start(); thread.join()
            end = time.monotonic() + 10
            while not is_alone() and time.monotonic() < end:
                time.sleep(0.001)  # a thread that was joined may still be there; CPython 3.12 warns of a fork beside one
            pid = os.fork()
            if pid == 0:
                for i in range(2):
                    for j in sorted([1, 2]):
                        pass
                os._exit(5)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out)
            print(subprocess.run([sys.executable, "-c", "raise SystemExit(7)"]).returncode)
        try:
            os.wait()
        except ChildProcessError:
            print("no other children")
    """,
    "atexit and hooks": """
        import atexit, sys
        atexit.register(print, "last words")
        sys.excepthook = lambda kind, value, tb: print("hooked", kind.__name__, value, tb.tb_frame.f_code.co_name)
        for epoch in range(2):
            for step in sorted([1]):
                pass
        raise OSError("to the hook")
    """,
    "not text that Python takes": "for epoch in range(3)\n    print(epoch)\n",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_recorded_is_plain(name: str, workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPTS[name])
    plain = workshop.plain("train.py", "--lr", "0.1", "-x")
    recorded = workshop.florc("record", "train.py", "--lr", "0.1", "-x")
    assert (recorded.out, recorded.err, recorded.code) == (plain.out, plain.err, plain.code)


def test_what_is_not_python_leaves_no_run(workshop: Workshop) -> None:
    workshop.write("train.py", "for epoch in range(3)\n    print(epoch)\n")
    recorded = workshop.florc("record", "train.py")
    assert recorded.code == 1 and "SyntaxError" in recorded.err and not recorded.said
    assert not (workshop.path / ".florc").exists()


def test_ctrl_c_ends_the_script_as_python_does(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        """
        import time
        for epoch in range(100):
            print("epoch", epoch, flush=True)
            for step in map(float, range(10)):
                time.sleep(0.01)
    """,
    )
    plain = workshop.plain("train.py", interrupt_after="epoch 2")
    recorded = workshop.florc("record", "train.py", interrupt_after="epoch 2")
    assert recorded.code == plain.code
    assert recorded.err.splitlines()[-1] == plain.err.splitlines()[-1] == "KeyboardInterrupt"
    assert "florc/record/session.py" not in recorded.err and "florc/skipblock.py" not in recorded.err
    assert "interrupted" in recorded.said
    [run] = [json.loads(line) for line in workshop.florc("runs", "--json").out.splitlines()]
    assert run["status"] == "interrupted"
    assert workshop.florc("replay", "train.py").code == 0


CAUGHT = {
    "around": """
        import signal, time
        w = 0
        try:
            for epoch in range(100):
                for step in map(float, range(10)):
                    time.sleep(0.01)
                    w += step
                print("epoch", epoch, w, flush=True)
        except KeyboardInterrupt:
            print("stopped early")
        for batch in range(3):
            print("test", batch)
        print("saved", w > 0, signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    """,
    "inside": """
        import time
        w = 0
        for epoch in range(100):
            try:
                print("inside", epoch, flush=True)
                for step in map(float, range(10)):
                    time.sleep(0.1)
                    w += step
            except KeyboardInterrupt:
                break
            print("epoch", epoch, w, flush=True)
        print("saved", w > 0, True)
    """,
    "and goes on": """
        import time
        w = 0
        for epoch in range(8):
            try:
                for step in map(float, range(10)):
                    time.sleep(0.02)
                    w += step
                print("epoch", epoch, w, flush=True)
                time.sleep(0.5)
            except KeyboardInterrupt:
                w = -1e6
        print("saved", True, True)
    """,
}


@pytest.mark.parametrize("how", list(CAUGHT))
def test_a_replay_ends_where_the_script_caught_ctrl_c(workshop: Workshop, how: str) -> None:
    workshop.write("train.py", CAUGHT[how])
    # Not "epoch 2": what is printed outside the `try` may be followed by an interrupt outside it.
    recorded = workshop.florc("record", "train.py", interrupt_after="inside 3" if how == "inside" else "epoch 2")
    assert recorded.code == 0 and recorded.out.splitlines()[-1] == "saved True True"
    text = (workshop.path / "train.py").read_text()
    workshop.write("train.py", re.sub(r"( +)print\(.epoch", r"\1print('PROBE', w)\n\g<0>", text))
    replayed = workshop.florc("replay", "train.py")
    seen = [float(line.split()[1]) for line in replayed.out.splitlines() if line.startswith("PROBE")]
    assert seen == [45.0 * (n + 1) for n in range(len(seen))] and len(seen) >= 2, replayed.out
    assert replayed.code == 0 and "in which the recorded run was interrupted" in replayed.said, replayed.said
    assert "unverified from here on: the recorded run caught a Ctrl-C, and what it did from there on" in replayed.said, (
        replayed.said
    )
    *values, outcome = map(json.loads, workshop.florc("replay", "--json", "train.py").out.splitlines())
    assert {value["verdict"] for value in values} == {"exact"} and outcome["verdict"] == "unverified" and outcome["ended_in"]
    assert workshop.florc("replay", "--strict", "train.py").code == 1
    assert workshop.florc("replay", "--last", "train.py").out.split()[1::2] == [str(seen[-1])]
    mistaken = workshop.florc("replay", "--last", "2", "train.py")
    assert mistaken.code == 2 and "no run 2 in" in mistaken.said


def test_what_a_handler_of_a_signal_raises_reaches_the_script_whatever_florc_does_then(workshop: Workshop) -> None:
    """A timeout by an alarm comes while florc sees what is printed, or takes a value from outside, as often as elsewhere."""
    workshop.write(
        "train.py",
        """
        import signal, time
        class Late(Exception):
            pass
        def late(*_):
            raise Late
        signal.signal(signal.SIGALRM, late)
        came = 0
        for trial in range(40):
            signal.setitimer(signal.ITIMER_REAL, 0.002 + trial * 1e-5)
            try:
                for step in range(100_000):
                    print("step", time.time() > 0)
            except Late:
                came += 1
        print("came", came)
        """,
    )
    recorded = workshop.florc("record", "train.py")
    assert recorded.out.endswith("came 40\n") and recorded.code == 0, recorded.said
    assert "inside florc" not in recorded.said, recorded.said


@pytest.mark.parametrize("is_caught", [True, False], ids=["caught", "not caught"])
def test_an_interrupt_in_a_loop_without_noted_iterations_is_no_difference(workshop: Workshop, is_caught: bool) -> None:
    text = """
        import time
        def say(epoch):
            print("epoch", epoch, flush=True)
        try:
            for epoch in range(30):
                say(epoch)
                #ADDED
                time.sleep(0.1)
        except NAME:
            print("interrupted")
        print("end")
    """.replace("NAME", "KeyboardInterrupt" if is_caught else "ValueError")
    workshop.write("train.py", text)
    recorded = workshop.florc("record", "train.py", interrupt_after="epoch 3")
    assert ("interrupted" in recorded.out) is is_caught and "epoch 29" not in recorded.out, recorded.out
    workshop.write("train.py", text.replace("#ADDED", "print('PROBE', epoch)"))
    done = workshop.florc("replay", "train.py")
    seen = [line for line in done.out.splitlines() if line.startswith("PROBE")]
    assert seen[:4] == [f"PROBE {n}" for n in range(4)], done.said
    assert "unverified from here on: the recorded run got a Ctrl-C in a loop" in done.said and "ANOMALOUS" not in done.said, (
        done.said
    )


HELD = """
    import os, signal, time
    from florc import _native
    from florc.support import mishaps

    _native.watch_interrupts()
    try:
        with mishaps.Swallow("a test"), mishaps.Swallow("within"):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            print("held")
            {more}
            print("and held")
        time.sleep(5)
        print("lost")
    except KeyboardInterrupt:
        print("interrupted")
    with mishaps.Swallow("after that"):
        pass
    print("goes on")
"""


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ("", ["held", "and held", "interrupted", "goes on"]),
        ("os.kill(os.getpid(), signal.SIGINT); time.sleep(0.1)", ["held", "interrupted", "goes on"]),
    ],
)
def test_ctrl_c_waits_for_the_end_of_florcs_own_work(workshop: Workshop, more: str, shown: list[str]) -> None:
    """Between two iterations it would come outside of the script's `try`."""
    workshop.write("held.py", HELD.format(more=more))
    done = workshop.plain("held.py")
    assert done.out.splitlines() == shown, done


def test_ctrl_c_after_the_end_of_the_script_is_no_error(workshop: Workshop) -> None:
    """`atexit` functions of the script run before florc's: the interrupts come while the run is closed."""
    workshop.write(
        "train.py",
        """
        import os, signal, sys
        from florc.record import session as record
        close = record.Recording.finish
        def closes(self, status):
            for _ in range(int(sys.argv[1])):
                os.kill(os.getpid(), signal.SIGINT)
            return close(self, status)
        record.Recording.finish = closes
        print("over")
    """,
    )
    for times, said in (("1", "florc: recorded "), ("2", "florc: interrupted while the run was being closed")):
        done = workshop.florc("record", "train.py", times)
        assert (done.out, done.err, done.code) == ("over\n", "", 0) and said in done.said, done


def test_a_killed_run_is_read_without_complaint(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        """
        import time
        history = []
        for epoch in range(100):
            print("epoch", epoch, flush=True)
            for step in map(float, range(10)):
                history.append(step)
                time.sleep(0.01)
    """,
    )
    assert workshop.florc("record", "--overhead", "0.9", "train.py", kill_after="epoch 4").code == -9
    listed = workshop.florc("runs")
    assert "killed" in listed.out and not listed.err
    text = (workshop.path / "train.py").read_text()
    workshop.write("train.py", text.replace("    for step", "    print('seen', len(history))\n    for step"))
    replayed = workshop.florc("replay", "train.py")
    seen = replayed.out.splitlines()
    assert seen == [f"seen {10 * epoch}" for epoch in range(len(seen))] and len(seen) >= 3
    assert replayed.code == 0, replayed.said


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("record", "missing.py"), "cannot read missing.py: no such file or directory"),
        (("record",), "which script?"),
        (("record", "--overhead", "7", "train.py"), "--overhead is a share"),
        (("record", "-m", "nowhere.at.all"), "no module named nowhere.at.all"),
        (("replay", "train.py"), "there are no recorded runs"),
        (("plan", "missing.py"), "cannot read missing.py: no such file or directory"),
    ],
)
def test_bad_input_gets_a_sentence(command: tuple, message: str, workshop: Workshop) -> None:
    workshop.write("train.py", "print(1)\n")
    done = workshop.florc(*command)
    assert done.code == 2
    assert message in done.said
    assert not done.out and "Traceback" not in done.err


def test_a_file_named_as_a_built_in_module_is_not_found(workshop: Workshop) -> None:
    """Python asks its own finders before it searches the path."""
    for name in ("time", "atexit", "zipimport"):
        workshop.write(f"{name}.py", "raise SystemExit('found')\n")
    workshop.write(
        "it.py", "import time, atexit, zipimport\nprint(time.monotonic() > 0, atexit.register, zipimport.zipimporter)\n"
    )
    plain, recorded = workshop.plain("it.py"), workshop.florc("record", "it.py")
    assert plain.code == recorded.code == 0 and recorded.out == plain.out, recorded.said
