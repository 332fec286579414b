"""What threads and other processes do beside a replayed script: it ends, and what an answer shows of them is right or flagged."""

from __future__ import annotations

import textwrap

import pytest
from workshop import Workshop

HEAD = """
    import os, pty, socket, subprocess, sys, tempfile, threading, time
    total = 0.0
"""
LOOP = """
    def told(epoch, value):
        with open("truth", "a") as file: print(epoch, repr(value), file=file)
        #PROBE
    def main():
        global total
        for epoch in range(3):
            for step in range(20): total += step
            told(epoch, get())
            print("epoch", epoch, total)
    main()
"""
WAYS = {
    "named pipe": """
        os.path.exists("way") or os.mkfifo("way")
        program = subprocess.Popen(["sh", "-c", "date +%N > way"])
        with open("way") as file: value = file.read()
        program.wait()
    """,
    "terminal": """
        here, there = pty.openpty()
        subprocess.run(["date", "+%N"], stdout=there)
        value = os.read(here, 99)
        os.close(here), os.close(there)
    """,
    "file": """
        with tempfile.TemporaryFile() as file:
            subprocess.run(["date", "+%N"], stdout=file)
            file.seek(0)
            value = file.read()
    """,
    "sockets": """
        here, there = socket.socketpair()
        subprocess.run(["sh", "-c", f"date +%N >&{there.fileno()}"], pass_fds=[there.fileno()])
        value = here.recv(99)
        here.close(), there.close()
    """,
    "program of a thread": """
        values = []
        thread = threading.Thread(target=lambda: values.append(subprocess.check_output(["date", "+%N"])))
        thread.start()
        thread.join()
        value = values[0]
    """,
    "program of a fork": """
        here, there = os.pipe()
        if os.fork() == 0:
            os.write(there, subprocess.check_output(["date", "+%N"]))
            os._exit(0)
        os.close(there)
        value = os.read(here, 99)
        os.wait()
        os.close(here)
    """,
    "file that is waited for": """
        subprocess.Popen("sleep 0.02; date +%N > new; mv new done", shell=True)
        while not os.path.exists("done"): time.sleep(0.002)
        with open("done") as file: value = file.read()
        os.remove("done")
    """,
}


def program(way: str) -> str:
    body = textwrap.indent(textwrap.dedent(way), " " * 8)
    return f"{HEAD}    def get():{body.rstrip()}\n        return value\n{LOOP}"


@pytest.mark.parametrize("way", WAYS)
def test_what_others_say_is_right_or_flagged_and_the_replay_ends(workshop: Workshop, way: str) -> None:
    replayed, truth = workshop.written_down(program(WAYS[way]), 'print("P", epoch, repr(value))')
    given = "".join(line[2:] for line in replayed.out.splitlines(True) if line.startswith("P "))
    assert replayed.code in (0, 1) and given.count("\n") == truth.count("\n"), replayed.out + replayed.err + replayed.said
    assert given == truth or "exact: " not in replayed.said, replayed.out + truth + replayed.said


def test_a_wait_by_a_clock_waits_as_long_as_it_means_to(workshop: Workshop) -> None:
    text = """
        import os, threading, time
        late = []
        for epoch in range(2):
            marker = f"marker-{epoch}"
            threading.Timer(0.05, lambda: open(marker, "w").close()).start()
            end = time.monotonic() + 20
            while not os.path.exists(marker) and time.monotonic() < end:
                time.sleep(0.001)
            late.append(time.monotonic() >= end)
            #PROBE
        print(late)
        open("truth", "w").close()
    """
    replayed, _ = workshop.written_down(text, 'print("P", late[-1])')
    assert replayed.out == "P False\nP False\n" and "ANOMALOUS" not in replayed.said, replayed.out + replayed.said


def test_a_question_is_not_blamed_for_what_a_thread_changes(workshop: Workshop) -> None:
    text = """
        import threading, time
        beats, over, total = [0], threading.Event(), 0
        def beat():
            while not over.wait(0.0005): beats[0] += 1
        thread = threading.Thread(target=beat)
        thread.start()
        for epoch in range(3):
            for step in range(5):
                time.sleep(0.002)
                total += step
            #PROBE
            print("epoch", epoch, total)
        over.set()
        thread.join()
        open("truth", "w").close()
    """
    replayed, _ = workshop.written_down(text, 'print("P", sum([total for _ in range(20_000)]) // 20_000)')
    assert "does more than look" not in replayed.said and "the added code changes" not in replayed.said, replayed.said
    assert replayed.out == "P 10\nP 20\nP 30\n", replayed.out


def test_the_scripts_files_have_the_numbers_that_they_had(workshop: Workshop) -> None:
    text = """
        import os
        total = 0
        for epoch in range(3):
            for step in range(5): total += step
            with open("kept", "w") as file: number = file.fileno()
            #PROBE
            print("epoch", epoch, total)
        open("truth", "w").write(str(number))
    """
    replayed, truth = workshop.written_down(text, 'print("P", number)')
    assert replayed.out == f"P {truth}\n" * 3 and "exact: " in replayed.said, replayed.out + truth + replayed.said
