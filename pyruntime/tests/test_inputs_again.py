"""What a replay makes again as the recorded run did: files and folders of `tempfile` have the names that they had."""

from __future__ import annotations

from pathlib import Path

import pytest
from workshop import Done, Workshop

TEMPORARY = """
    import os, shutil, tempfile, time
    from tempfile import NamedTemporaryFile as Named, mkdtemp
    kept = tempfile.mkdtemp(prefix="kept-", suffix="-x")
    here = mkdtemp(dir=".")
    gone = tempfile.TemporaryDirectory()
    handle, left = tempfile.mkstemp(suffix=b".b")
    os.write(handle, b"abc")
    os.close(handle)
    total, names = 0, []
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.01)
            total += i * epoch
            names.append(mkdtemp(dir=kept))
            with Named("w", dir=gone.name, delete=False) as file: file.write("x")
        log = Named("w", dir=kept, delete=False)
        log.write(str(total))
        log.close()
        print("PLAIN", log.name, names[-1], len(os.listdir(kept)), names == sorted(names))
    free = tempfile.mktemp()
    print("PLAIN", kept, here, gone.name, left, open(left).read(), free, os.path.isdir(gone.name))
    shutil.rmtree(here)
"""


@pytest.fixture
def temporary(workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where `tempfile` makes files, for this test alone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"/" for path in folder.rglob("*")}


def asked(workshop: Workshop, text: str, *options: str) -> tuple:
    """The run as it was recorded, and its replay where each line that it prints is printed by an added statement."""
    file = workshop.write("train.py", text)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0 and not recorded.err, recorded.said + recorded.err
    lines = []
    for line in file.read_text().splitlines():
        if line.lstrip().startswith('print("PLAIN"'):
            lines.append(line.replace('"PLAIN"', '"PROBE"'))
        lines.append(line)
    file.write_text("\n".join(lines) + "\n")
    return recorded, workshop.florc("replay", *options, "train.py")


def is_same(recorded: Done, replayed: Done, last: bool = False) -> bool:
    """`last`: only the last iteration was asked for, before which files were written that are read."""
    truth, found = recorded.out.replace("PLAIN", "PROBE").splitlines(), replayed.out.splitlines()
    return replayed.code == 0 and (found == truth[-2:-1] if last else found == truth and "exact" in replayed.said)


@pytest.mark.parametrize(
    "options",
    [(), ("--step-into", "all"), ("--last",), ("--workers", "2", "--step-into", "all")],
    ids=lambda options: " ".join(options) or "restored",
)
def test_names_of_temporary_files_are_what_they_were(workshop: Workshop, temporary: Path, options: tuple) -> None:
    recorded, replayed = asked(workshop, TEMPORARY, *options)
    assert is_same(recorded, replayed, last="--last" in options), (recorded.out, replayed.out, replayed.said)


def test_what_the_recorded_run_left_stays_as_it_is(workshop: Workshop, temporary: Path) -> None:
    """The replay finds the names free, writes below them, and lists what it made itself."""
    recorded, replayed = asked(
        workshop,
        """
        import os, shutil, tempfile, time
        d = tempfile.mkdtemp()
        f = tempfile.NamedTemporaryFile("w", delete=False)
        total = 0
        for epoch in range(2):
            for i in range(3):
                time.sleep(0.01)
                total += i
            open(os.path.join(d, f"{epoch}.txt"), "w").write(str(total) + str(time.time()))
            f.write("x" * epoch + "\\n")
            f.flush()
            print("PLAIN", sorted(os.listdir(d)), open(f.name).read().split(), os.path.isdir(d), d)
        print("PLAIN", open(os.path.join(d, "0.txt")).read())
    """,
    )
    left = contents(temporary)
    assert len(left) == 4 and is_same(recorded, replayed), (recorded.out, replayed.out, replayed.said)
    again = workshop.florc("replay", "--step-into", "all", "train.py")
    assert is_same(recorded, again), (again.out, again.said)
    assert contents(temporary) == left


def test_a_temporary_folder_goes_with_its_replay(workshop: Workshop, temporary: Path) -> None:
    """A replay that ends in the middle removes what has the recorded name: the next one has it again, for programs, too."""
    recorded, replayed = asked(
        workshop,
        """
        import os, shutil, subprocess, tempfile, time
        d, total = tempfile.mkdtemp(), 0
        for epoch in range(3):
            for i in range(3):
                time.sleep(0.01)
                total += i
            subprocess.run(["touch", f"{d}/{epoch}"], check=True)
            print("PLAIN", d, os.path.exists(f"{d}/{epoch}"))
        shutil.rmtree(d)
    """,
        "--iterations",
        "0:1",
    )
    assert replayed.out.splitlines() == [recorded.out.splitlines()[0].replace("PLAIN", "PROBE")] and replayed.code == 0, (
        replayed.said
    )
    assert not contents(temporary)
    again = workshop.florc("replay", "train.py")
    assert is_same(recorded, again) and "exact" in again.said and not contents(temporary), again.said


def test_a_name_that_cannot_be_had_is_told(
    workshop: Workshop, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = workshop.write(
        "train.py",
        """
        import os, tempfile
        with tempfile.TemporaryDirectory() as d:
            print(len(os.listdir(d)))
    """,
    )
    assert workshop.florc("record", "train.py").code == 0
    file.write_text(file.read_text() + "    print('PROBE', d)\n")
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv("TMPDIR", str(other))
    replayed = workshop.florc("replay", "train.py")
    assert "unverified" in replayed.said and f"tempfile.TemporaryDirectory made {other}" in replayed.said, replayed.said


def test_programs_change_nothing_that_the_recorded_run_left(workshop: Workshop, temporary: Path) -> None:
    """They are outside the view: where there is something, the script gets another name, and the answer is unverified."""
    file = workshop.write(
        "train.py",
        """
        import os, subprocess, tempfile
        d = tempfile.mkdtemp()
        for epoch in range(2):
            subprocess.run(["sh", "-c", f"date +%N >> {d}/log"], check=True)
            print(epoch, len(open(f"{d}/log").read().split()))
    """,
    )
    assert workshop.florc("record", "train.py").code == 0
    left = contents(temporary)
    file.write_text(file.read_text() + "    print('PROBE', os.path.exists(d))\n")
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "PROBE True\n" * 2 and "unverified" in replayed.said and "mkdtemp made" in replayed.said, replayed.said
    assert {path: data for path, data in contents(temporary).items() if path in left} == left and len(left) == 2


def test_added_statements_and_the_scripts_own_names_are_left(workshop: Workshop, temporary: Path) -> None:
    file = workshop.write(
        "train.py",
        """
        import os, tempfile
        class Names:
            number = 0
            def __iter__(self): return self
            def __next__(self):
                self.number += 1
                return str(self.number)
        for epoch in range(3):
            d = tempfile.mkdtemp()
            os.rmdir(d)
        try:
            tempfile.mkdtemp(dir="/nowhere")
        except OSError as error:
            print(str(error)[:40])
        tempfile._name_sequence = Names()
        print(tempfile.mktemp(), tempfile.mkdtemp(b"x"))
    """,
    )
    recorded = workshop.florc("record", "train.py")
    assert recorded.code == 0, recorded.err
    file.write_text(file.read_text().replace("    os.rmdir", "    print('PROBE', tempfile.mktemp(), d)\n    os.rmdir"))
    replayed = workshop.florc("replay", "train.py")
    words = [word for line in replayed.out.splitlines() for word in line.split()[1:]]
    assert len(words) == len(set(words)) == 6 and replayed.code == 0 and "exact: 2 recorded lines" in replayed.said, replayed.said
