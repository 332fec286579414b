"""Files whose names hold the number of the process: a restored block wrote them under the number of the recorded one."""

from __future__ import annotations

import pytest
from workshop import Workshop

SCRIPT = """
    import glob, os, time
    total = 0
    os.makedirs("logs", exist_ok=True)
    BEFORE
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.01)
            total += i * epoch
            INSIDE
        AFTER
        print(epoch, total)
"""
IN_A_NAME = ('name = f"logs/{os.getpid()}.txt"', 'open(name, "a").write("x")')
IN_A_FOLDER = ('os.mkdir(f"run-{os.getpid()}")', 'open(f"run-{os.getpid()}/{i}", "a").write("x")')
IN_A_NEW_FOLDER = (
    "",
    'os.makedirs(f"run-{os.getpid()}", exist_ok=True)\n            open(f"run-{os.getpid()}/{i}", "a").write("x")',
)


def asked(workshop: Workshop, before: str, inside: str, question: str, after: str = "pass") -> tuple:
    """What a plain run prints, and what the replay does."""
    text = SCRIPT.replace("BEFORE", before).replace("INSIDE", inside).replace("AFTER", after)
    edited = text.replace("        print(epoch", f"        print('PROBE', {question})\n        print(epoch")
    workshop.write("train.py", text)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    workshop.write("train.py", edited)
    replayed = workshop.florc("replay", "train.py")
    workshop.run("sh", "-c", "rm -rf logs run-*")
    truth = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    return truth, replayed.out.splitlines(), replayed


@pytest.mark.parametrize(
    ("names", "question"),
    [
        (IN_A_NAME, "os.path.exists(name)"),
        (IN_A_NAME, "os.path.isfile(name)"),
        (IN_A_NAME, "os.path.getsize(name)"),
        (IN_A_NAME, "open(name).read()"),
        (IN_A_NAME, "[str(os.getpid()) in n for n in os.listdir('logs')]"),
        (IN_A_NAME, "len(glob.glob(f'logs/*{os.getpid()}*'))"),
        (IN_A_NAME, "any(str(os.getpid()) in e.name for e in os.scandir('logs'))"),
        (IN_A_FOLDER, "len(os.listdir(f'run-{os.getpid()}'))"),
        (IN_A_FOLDER, "os.path.exists(f'run-{os.getpid()}/1')"),
        (IN_A_NEW_FOLDER, "os.path.isdir(f'run-{os.getpid()}')"),
        (IN_A_NEW_FOLDER, "os.path.exists(f'run-{os.getpid()}/1')"),
        (IN_A_NEW_FOLDER, "[len(names) for _, _, names in os.walk(f'run-{os.getpid()}')]"),
    ],
)
def test_what_a_block_wrote_under_the_number_is_there_or_doubted(workshop: Workshop, names: tuple, question: str) -> None:
    truth, found, replayed = asked(workshop, *names, question)
    assert replayed.code == 0 and (found == truth or "unverified" in replayed.said), replayed.said


def test_the_script_itself_finds_what_a_block_wrote(workshop: Workshop) -> None:
    truth, found, replayed = asked(workshop, *IN_A_NAME, "total", "if not os.path.exists(name): print('none')")
    assert found == truth and "exact" in replayed.said, replayed.said


@pytest.mark.parametrize(
    ("names", "question"),
    [
        (IN_A_NAME, "os.path.exists('logs/7.txt')"),
        (IN_A_NAME, "os.path.exists(f'logs/{os.getpid()}0.txt')"),
        (IN_A_NAME, "os.path.exists(f'{os.getpid()}.txt')"),
        (IN_A_NAME, "os.listdir('..') != []"),
        (
            ("", 'open(f"logs/{i}.txt", "a").write("x")'),
            "os.path.exists(f'logs/{os.getpid() + 9}.txt'), sorted(os.listdir('logs'))",
        ),
    ],
)
def test_what_was_not_written_under_the_number_is_not_doubted(workshop: Workshop, names: tuple, question: str) -> None:
    truth, found, replayed = asked(workshop, *names, question)
    assert found == truth and "exact" in replayed.said, replayed.said
