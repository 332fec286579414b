"""No replay changes a file of the user; one sees them as the recorded run found them; what an added statement writes stays."""

from __future__ import annotations

import pytest
from viewed import tree
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


def files(workshop: Workshop) -> dict[str, str]:
    return {path.name: path.read_text() for path in workshop.path.iterdir() if path.is_file() and path.name != "train.py"}


def left(workshop: Workshop) -> list:
    """What replays left of their views."""
    return list(workshop.path.glob(".florc/runs/*/replays/*/files"))


@pytest.fixture
def recorded(workshop: Workshop) -> Workshop:
    workshop.write("train.py", TRAIN)
    done = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert done.code == 0, done
    assert len(files(workshop)["log.txt"].splitlines()) == len(files(workshop)["history.csv"].splitlines()) == 6
    return workshop


@pytest.mark.parametrize("options", [(), ("--last",), ("--iterations", "1:3"), ("--workers", "2"), ("--step-into", "all")])
def test_a_replay_leaves_the_files_of_the_run(recorded: Workshop, options: tuple) -> None:
    recorded.write("train.py", TRAIN.replace("# ADDED", "print('PROBE', best)").replace("best = 0", "best = 0  # more"))
    before = tree(recorded.path)
    done = recorded.florc("replay", *options, "train.py")
    assert done.code == 0, done.said
    assert tree(recorded.path) == before
    done = recorded.florc("verify", "--samples", "1", "train.py")
    assert done.code == 0, done.said
    assert tree(recorded.path) == before
    assert not left(recorded) and not (recorded.path / ".florc" / "kept").exists()


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


KILL = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize(
    "point", ["best = 0", "        log.write", "        print(epoch, total)", "    # ADDED", "    log.close()"]
)
def test_a_killed_replay_changes_nothing(recorded: Workshop, point: str) -> None:
    indent = " " * (len(point) - len(point.lstrip()))
    recorded.write(
        "train.py",
        TRAIN.replace(f"\n    {point}", f"\n    {indent}{KILL}\n    {point}", 1).replace(
            f"\n{point}", f"\n{indent}{KILL}\n{point}", 1
        ),
    )
    before = tree(recorded.path)
    assert recorded.florc("replay", "train.py").code != 0
    assert tree(recorded.path) == before
    recorded.write("train.py", TRAIN.replace("# ADDED", "print('PROBE', best)"))
    before = tree(recorded.path)
    done = recorded.florc("replay", "train.py")
    assert (done.out, done.code) == ("PROBE 18.0\n", 0) and "cut off" not in done.said, done
    assert tree(recorded.path) == before and not left(recorded)


def test_a_newer_training_is_not_lost_to_a_killed_replay(recorded: Workshop) -> None:
    recorded.write("train.py", TRAIN.replace("# ADDED", KILL))
    assert recorded.florc("replay", "train.py").code != 0
    recorded.write("train.py", TRAIN.replace("range(6)", "range(9)").replace("% 4", "% 7"))
    assert recorded.plain("train.py").code == 0
    assert (recorded.path / "best.txt").read_text() == "6"
    recorded.write("train.py", TRAIN.replace("# ADDED", "print('PROBE', best)"))
    before = tree(recorded.path)
    done = recorded.florc("replay", "train.py")
    assert (done.out, done.code) == ("PROBE 18.0\n", 0), done
    assert tree(recorded.path) == before


def test_what_an_older_version_kept_is_told(recorded: Workshop) -> None:
    kept = recorded.path / ".florc" / "kept"
    kept.mkdir()
    (kept / "abc").write_text("old")
    (kept / "abc.path").write_text(str(recorded.path / "best.txt"))
    recorded.write("train.py", TRAIN.replace("# ADDED", "print('PROBE', best)"))
    before = tree(recorded.path)
    for command in (("replay", "train.py"), ("runs",)):
        assert str(kept) in recorded.florc(*command).said
    assert tree(recorded.path) == before and (kept / "abc").read_text() == "old"
    assert str(kept) in recorded.florc("record", "train.py").said


def test_an_added_statement_that_writes_a_file_of_the_script(recorded: Workshop) -> None:
    recorded.write("train.py", TRAIN.replace("# ADDED", "print('mine', file=open('history.csv', 'a'))"))
    before = tree(recorded.path)
    done = recorded.florc("replay", "train.py")
    beside = recorded.path / "history.csv.florc-replay"
    assert "history.csv.florc-replay" in done.said and beside.read_text().endswith("5,6.0\nmine\n"), done
    beside.unlink()
    assert tree(recorded.path) == before


def test_what_torch_saves(workshop: Workshop) -> None:
    pytest.importorskip("torch")
    workshop.write(
        "train.py",
        """
        import torch
        net = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(4):
            for _ in range(20):
                net(torch.ones(2)).sum().backward()
                optimizer.step()
            torch.save(net.state_dict(), "net.pt")
            print(epoch)
        """,
    )
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    before = (workshop.path / "net.pt").read_bytes()
    workshop.write("train.py", (workshop.path / "train.py").read_text().replace("print(epoch)", "print(epoch); print('PROBE')"))
    done = workshop.florc("replay", "--iterations", "1:2", "train.py")
    assert (done.out, done.code) == ("PROBE\n", 0), done
    assert (workshop.path / "net.pt").read_bytes() == before


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
    """It finds them as the recorded run found them, also when it has run since."""
    workshop.write("train.py", RESUMES)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    for times in range(2):
        workshop.write("train.py", RESUMES.replace("# ADDED", "print('PROBE', epoch, total)"))
        done = workshop.florc("replay", "train.py")
        assert (done.code, len(done.out.splitlines())) == (0, 4), done
        workshop.write("train.py", RESUMES.replace("4", "7"))
        assert workshop.plain("train.py").code == 0


def test_data_that_is_shorter_now_is_told(workshop: Workshop) -> None:
    """What the run only read is the user's own, as it is now."""
    script = """
        import time
        total = 0
        for line in open("data.txt"):
            for step in range(3):
                time.sleep(0.01)
                total += step * int(line)
            # ADDED
        """
    (workshop.path / "data.txt").write_text("1\n2\n3\n4\n")
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    (workshop.path / "data.txt").write_text("1\n2\n3\n")
    workshop.write("train.py", script.replace("# ADDED", "print('PROBE')"))
    done = workshop.florc("replay", "train.py")
    assert done.code == 1 and "L1 had 3 iterations, in the recorded run 4" in done.said, done


NEEDS = """
    import os, time
    for epoch in range(6):
        total = 0
        for step in range(4):
            time.sleep(0.02)
            total += step * epoch
            open(f"{epoch}.txt", "w").write(str(total))
        # ADDED
        if epoch > 1: os.remove(f"{epoch - 2}.txt")
    """


def needing(workshop: Workshop, added: str) -> Workshop:
    """A run whose outer loop removes what the inner one wrote, and what was added to it."""
    workshop.write("train.py", NEEDS)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", NEEDS.replace("# ADDED", added))
    return workshop


@pytest.mark.parametrize(
    "options, epochs",
    [((), range(6)), (("--iterations", "3:5"), range(3, 5)), (("--last",), range(5, 6)), (("--workers", "2"), range(6))],
)
def test_a_file_that_the_script_needs_is_written_again(workshop: Workshop, options: tuple, epochs: range) -> None:
    needing(workshop, "print('PROBE', epoch, open(f'{epoch}.txt').read())")
    before = tree(workshop.path)
    done = workshop.florc("replay", *options, "train.py")
    assert (done.out, done.code) == ("".join(f"PROBE {epoch} {6 * epoch}\n" for epoch in epochs), 0), done
    assert tree(workshop.path) == before and not left(workshop)


@pytest.mark.parametrize("there", [None, "before\n"])
def test_what_added_statements_wrote_is_there_once_when_a_replay_starts_again(workshop: Workshop, there: str | None) -> None:
    needing(workshop, "print(epoch, file=open('probe.txt', 'a'))")
    if there is not None:
        (workshop.path / "probe.txt").write_text(there)
    done = workshop.florc("replay", "train.py")
    assert done.code == 0 and "the script needs" in done.said, done
    assert files(workshop)["probe.txt"] == (there or "") + "".join(f"{epoch}\n" for epoch in range(6))


@pytest.mark.parametrize("statement, is_written", [("select a from t", False), ("insert into t values (7)", True)])
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_that_an_added_statement_only_asks_is_not_told_of(
    workshop: Workshop, statement: str, is_written: bool, mode: str
) -> None:
    script = f"""
        import sqlite3, time
        def ask(*words):
            with sqlite3.connect("m.db", isolation_level=None) as db:
                found = db.execute(*words).fetchall()
            db.close()
            return found
        ask("pragma journal_mode={mode}")
        ask("create table t (a)")
        for epoch in range(3):
            for step in range(3):
                time.sleep(0.02)
                total = step * epoch
            ask("insert into t values (?)", (total,))
            # ADDED
        """
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", script.replace("# ADDED", f"print('PROBE', ask('{statement}'))"))
    before = tree(workshop.path)
    done = workshop.florc("replay", "train.py")
    assert done.code == 0 and done.out.count("PROBE") == 3, done
    assert ("wrote to m.db" in done.said) == is_written, done
    assert {name.partition(".florc-replay")[0] for name in tree(workshop.path)} == set(before)
    assert (tree(workshop.path) == before) != is_written
