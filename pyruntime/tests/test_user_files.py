"""What the recorded run left on disk is there, byte for byte, after every replay; what an added statement writes stays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Dict

import pytest
from florc import user_files
from workshop import Workshop

TRAIN = """
    import os, shutil, time
    log = open("log.txt", "w")
    best = 0
    for epoch in range(6):
        total = 0.0
        for step in range(4):
            time.sleep(0.01)
            total += step * (epoch % 4)
        log.write(f"{epoch} {total}\\n")
        with open("history.csv", "a") as file:
            file.write(f"{epoch},{total}\\n")
        if total > best:
            best = total
            with open("best.new", "w") as file:
                file.write(str(epoch))
            os.replace("best.new", "best.txt")
        print(epoch, total)
    # ADDED
    log.close()
    print(open("best.txt").read())
    """


def files(workshop: Workshop) -> Dict[str, str]:
    return {path.name: path.read_text() for path in workshop.path.iterdir() if path.is_file() and path.name != "train.py"}


@pytest.fixture
def recorded(workshop: Workshop) -> Workshop:
    workshop.write("train.py", TRAIN)
    done = workshop.florc("record", "--overhead", "0.9", "train.py")
    assert done.code == 0, done
    assert len(files(workshop)["log.txt"].splitlines()) == len(files(workshop)["history.csv"].splitlines()) == 6
    return workshop


@pytest.mark.parametrize("options", [(), ("--last",), ("--iterations", "1:3"), ("--workers", "2"), ("--step-into", "all")])
def test_a_replay_leaves_the_files_of_the_run(recorded: Workshop, options: tuple) -> None:
    before = files(recorded)
    recorded.write("train.py", TRAIN.replace("# ADDED", "print('PROBE', best)").replace("best = 0", "best = 0  # more"))
    done = recorded.florc("replay", *options, "train.py")
    assert done.code == 0, done.said
    assert files(recorded) == before
    done = recorded.florc("verify", "--samples", "1", "train.py")
    assert done.code == 0, done.said
    assert files(recorded) == before
    assert os.listdir(recorded.path / ".florc" / "kept") == ["lock"]


def test_what_added_statements_write_stays(recorded: Workshop) -> None:
    before = files(recorded)
    recorded.write("train.py", TRAIN.replace("# ADDED", "print(best, file=open('probe.txt', 'a'))"))
    for times in (1, 2):
        assert recorded.florc("replay", "train.py").code == 0
        assert files(recorded) == {**before, "probe.txt": "18.0\n" * times}


def test_a_file_that_only_some_iterations_wrote_is_not_vouched_for(recorded: Workshop) -> None:
    recorded.write("train.py", TRAIN.replace("# ADDED", "log.flush(); print('PROBE', len(open('log.txt').readlines()))"))
    done = recorded.florc("replay", "train.py")
    assert done.out == "PROBE 6\n" or "log.txt was read" in done.said, done


def test_the_next_replay_puts_back_what_a_killed_one_left(recorded: Workshop) -> None:
    before = files(recorded)
    killed = TRAIN.replace("# ADDED", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    recorded.write("train.py", killed)
    assert recorded.florc("replay", "train.py").code != 0
    assert files(recorded) != before
    recorded.write("train.py", TRAIN.replace("# ADDED", "print('PROBE', best)"))
    done = recorded.florc("replay", "train.py")
    assert "an earlier replay was cut off" in done.said and done.code == 0, done
    assert files(recorded) == before


def test_what_torch_saves(workshop: Workshop) -> None:
    pytest.importorskip("torch")
    workshop.write("train.py", """
        import torch
        net = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(4):
            for _ in range(20):
                net(torch.ones(2)).sum().backward()
                optimizer.step()
            torch.save(net.state_dict(), "net.pt")
            print(epoch)
        """)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    before = (workshop.path / "net.pt").read_bytes()
    workshop.write("train.py", (workshop.path / "train.py").read_text().replace("print(epoch)", "print(epoch); print('PROBE')"))
    done = workshop.florc("replay", "--iterations", "1:2", "train.py")
    assert (done.out, done.code) == ("PROBE\n", 0), done
    assert (workshop.path / "net.pt").read_bytes() == before


def test_large_files_are_moved_and_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                             capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(user_files, "_LARGE", 10)
    monkeypatch.setattr(user_files.shutil, "copy2", lambda *_: pytest.fail("it was copied"))
    (tmp_path / "made anew").write_text("a" * 11)
    (tmp_path / "in place").write_text("b" * 11)
    (tmp_path / "replaced").write_text("c" * 11)
    (tmp_path / "removed").write_text("d" * 11)
    found = user_files.UserFiles(str(tmp_path / "store"))
    found.begin()
    found.watch()
    try:
        (tmp_path / "made anew").write_text("other")
        with open(tmp_path / "in place", "r+") as file:
            file.write("c")
        (tmp_path / "new").write_text("other")
        os.replace(tmp_path / "new", tmp_path / "replaced")
        (tmp_path / "removed").unlink()
    finally:
        monkeypatch.undo()
        found.end()
    for name, letter in (("made anew", "a"), ("replaced", "c"), ("removed", "d")):
        assert (tmp_path / name).read_text() == letter * 11
    assert (tmp_path / "in place").read_text() == "c" + "b" * 10 and "it is not put back" in capsys.readouterr().err


RESUMES = """
    import os, time
    start = int(open("epoch.txt").read()) if os.path.exists("epoch.txt") else 0
    for epoch in range(start, 4):
        for step in range(3):
            time.sleep(0.01)
            total = step * epoch
        # ADDED
        with open("epoch.txt", "w") as file:
            file.write(str(epoch + 1))
    """


def test_a_script_that_goes_on_from_its_own_files(workshop: Workshop) -> None:
    """It finds them as the recorded run left them: there is nothing to do."""
    workshop.write("train.py", RESUMES)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    workshop.write("train.py", RESUMES.replace("# ADDED", "print('PROBE', epoch, total)"))
    done = workshop.florc("replay", "train.py")
    assert done.code == 1 and "L1 had 0 iterations, in the recorded run 4" in done.said, done
    os.remove(workshop.path / "epoch.txt")
    done = workshop.florc("replay", "train.py")
    assert (done.code, len(done.out.splitlines())) == (0, 4), done
