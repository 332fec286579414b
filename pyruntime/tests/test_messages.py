"""What a user meets when something is not as it should be: one sentence, with a way out, and the right exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from workshop import Done, Workshop

SCRIPT = """
    import time
    total = 0.0
    for epoch in range(6):
        for step in map(float, range(4)):
            time.sleep(0.01)
            total += step + epoch
        print("epoch", epoch, total)
    print("done", total)
    """
FOLDS = """
    import time
    class Model:
        weight = 0.0
        def step(self, size):
            self.weight += size
    models = {"model": Model}  # so that `step` may be an optimizer's: a training step
    for fold in range(2):
        model = models["model"]()
        for epoch in range(1, 4):
            for step in map(float, range(3)):
                time.sleep(0.01)
                model.step(step)
            print(fold, epoch, model.weight)
    """
UNUSABLE = 2


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs of three scripts, one of them with a name."""
    made = Workshop(tmp_path_factory.mktemp("recorded"))
    for name, text, options in (("train.py", SCRIPT, ["--name", "grp"]), ("other.py", SCRIPT, []), ("folds.py", FOLDS, [])):
        made.write(name, text)
        assert made.florc("record", "--overhead", "0.9", *options, name).code == 0
    return made.path


@pytest.fixture
def kept(recorded: Path, tmp_path: Path) -> Iterator[Workshop]:
    """This folder, which a test may damage: it is as it was afterwards."""
    shutil.copytree(recorded, tmp_path / "backup")
    yield Workshop(recorded)
    shutil.rmtree(recorded)
    shutil.copytree(tmp_path / "backup", recorded)


def of_grp(kept: Workshop, what: str) -> Path:
    [found] = (kept.path / ".florc").glob(what)
    return found


def flip(file: Path, part: float) -> None:
    """Change one bit, so far into the file."""
    data = bytearray(file.read_bytes())
    data[int(part * len(data))] ^= 1
    file.write_bytes(data)


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def is_sentence(done: Done, *words: str) -> None:
    assert (done.code, done.out) == (UNUSABLE, ""), done
    assert "Traceback" not in done.err and all(word in done.said + done.err for word in words), done


@pytest.mark.parametrize("damage", [os.remove, truncate, lambda file: flip(file, 0)], ids=["gone", "short", "flipped"])
@pytest.mark.parametrize("command", [["replay", "train.py"], ["verify", "grp"], ["replay", "--dry-run", "train.py"]])
def test_a_damaged_store_is_named(kept: Workshop, damage: Callable, command: list) -> None:
    damage(of_grp(kept, "store.json"))
    done = kept.florc(*command)
    is_sentence(done, "store.json is damaged: ", 'it holds {"format": 1}: write that into it')
    of_grp(kept, ".gitignore").with_name("store.json").write_text('{"format": 1}')
    assert kept.florc(*command).code == 0


@pytest.mark.parametrize("command", [["replay", "train.py"], ["verify", "grp"]])
def test_a_lost_journal_and_a_folder_that_cannot_be_written(kept: Workshop, command: list) -> None:
    of_grp(kept, "runs/*-grp").joinpath("replays").write_text("in the way")
    is_sentence(kept.florc(*command), "cannot make ", "set FLORC_DIR to a copy of the store")
    os.remove(of_grp(kept, "runs/*-grp/journal.0"))
    is_sentence(kept.florc(*command), "journal.0: No such file", "record the script again")


def test_a_damaged_journal_is_told_beside_the_result(kept: Workshop) -> None:
    journal = of_grp(kept, "runs/*-grp/journal.0")
    os.truncate(journal, journal.stat().st_size - 30)
    done = kept.florc("replay", "train.py")
    assert done.code == 0 and done.said.count(f"{journal} is cut off at byte ") == 1, done.said
    flip(journal, 0.02)  # in the record that says what run it is of
    is_sentence(kept.florc("replay", "-q", "train.py"), f"{journal} is damaged at byte ", "choose another run")
    flip(journal, 0.02)  # in the record that says what run it is of
    flip(journal, 0.9)
    done = kept.florc("replay", "-q", "train.py")
    assert done.code == 0 and done.said.count(f"{journal} is damaged at byte ") == 1, done.said
    done = kept.florc("replay", "train.py")
    assert "was cut off here: the replay ends with its last whole iteration, before epoch=" in done.said, done.said
    assert "; answered up to epoch=" in done.said, done.said
    assert "overhead allowed" not in kept.florc("replay", "train.py").said


def test_a_damaged_checkpoint_is_no_checkpoint_that_was_not_kept(kept: Workshop) -> None:
    for pack in (kept.path / ".florc/packs").glob("*-grp-*"):
        truncate(pack)
    done = kept.florc("replay", "train.py")
    assert done.code == 0 and "is damaged: " in done.said.splitlines()[0], done.said
    assert "florc: exact: " in done.said and "ANOMALOUS" not in done.said, done.said
    assert done.said.count("its checkpoint cannot be read") == 1, done.said
    assert "ran 6 times: what was kept of it cannot be read" in done.said and "overhead allowed" not in done.said


def test_a_damaged_run_is_named(kept: Workshop) -> None:
    info = of_grp(kept, "runs/*-grp/run.json")
    truncate(info)
    for words in (["grp"], ["train.py"]):
        is_sentence(kept.florc("replay", *words), f"{info} is damaged: ")
    listed = kept.florc("runs")
    assert listed.code == 0 and len(listed.out.splitlines()) == 2 and f"{info} is damaged: " in listed.said
    done = kept.florc("replay", "other.py")
    assert done.code == 0 and done.said.count(f"{info} is damaged: ") == 1, done.said


@pytest.mark.parametrize("damage", [os.remove, lambda file: flip(file, 0.5)], ids=["gone", "flipped"])
def test_a_damaged_source_is_no_edit(kept: Workshop, damage: Callable) -> None:
    source = of_grp(kept, "runs/*-grp/source/*")
    damage(source)
    for command in (["replay", "train.py"], ["verify", "grp"]):
        is_sentence(kept.florc(*command), str(source), "the text of train.py as it was run, is damaged: ")


@pytest.mark.parametrize(
    "command, words",
    [
        (["replay", "grp", "other.py"], ["-grp is a run of train.py, not of other.py: florc replay grp train.py"]),
        (["replay", "train.py", "grp"], ["the run comes before the script: florc replay grp train.py"]),
        (["replay", "-m", "pkg.train"], ["replay names a run by its script: florc replay pkg/train.py"]),
        (["replay", "--step-into", "L9", "train.py"], ["there is no such loop", "L2  line 4  for step in map(float, range(4))"]),
        (["replay", "--iterations", "epoch=2", "folds.py"], ["name the iterations around it, too: fold=0,epoch=2"]),
        (["replay", "--iterations", "fold=1,step=2", "folds.py"], ["inside fold=1 runs over step", ": fold=1,epoch=1,step=2"]),
        (["record", "--nmae", "x", "train.py"], ["unexpected argument '--nmae' found", "'--name'"]),
        (["record", "."], [". is a folder without a __main__.py"]),
    ],
)
def test_what_was_meant_is_said(kept: Workshop, command: list, words: list) -> None:
    is_sentence(kept.florc(*command), *words)


@pytest.mark.parametrize("name", ["a b/c", "latest", "", "..", "-x", "run.py", "é", "n" * 101])
def test_a_bad_name_makes_nothing(workshop: Workshop, name: str) -> None:
    workshop.write("train.py", "print(1)\n")
    is_sentence(workshop.florc("record", f"--name={name}", "train.py"), "invalid value")
    assert not (workshop.path / ".florc").exists()


def test_options_behind_the_script_are_its_own(workshop: Workshop) -> None:
    workshop.write("train.py", "import sys; print(sys.argv)\n")
    assert workshop.florc("record", "train.py", "--nmae", "-x").out == "['train.py', '--nmae', '-x']\n"
    own = ("--name", "x", "--overhead", "0.5", "-q", "--help", "-m", "y")  # florc has options of these names, too
    for module in (
        ("-m", "train"),
        ("--module", "train"),
        ("-mtrain",),
        ("--module=train",),
        ("-q", "--overhead", "0.5", "-m", "train"),
    ):
        assert workshop.florc("record", *module, "--nmae").out.endswith("train.py', '--nmae']\n")
        done = workshop.florc("record", *module, *own)
        assert done.out.endswith(f"train.py', {str(list(own))[1:]}\n"), done.out + done.said
    assert workshop.florc("record", "-m", "train", "--", "-q").out.endswith("train.py', '-q']\n")


def test_no_runs_of_a_script(kept: Workshop) -> None:
    done = kept.florc("runs", "third.py")
    assert done.code == 0 and "no recorded run of third.py in" in done.said
    assert "(there are runs of folds.py, other.py, train.py)" in done.said


@pytest.mark.parametrize(
    "command",
    [["runs", "--json"], ["replay", "--json", "train.py"], ["replay", "--dry-run", "train.py"], ["verify", "--json", "grp"]],
)
def test_a_reader_that_goes_away_is_no_error(kept: Workshop, command: list) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "florc", *command],
        cwd=kept.path,
        env=kept.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(60) == 0 and "Error" not in said, said


def added(kept: Workshop, statement: str, after: str = "        total +=") -> None:
    """Put a statement before the line that begins so."""
    text = (kept.path / "train.py").read_text()
    indent = after[: len(after) - len(after.lstrip())]
    (kept.path / "train.py").write_text(text.replace(after, f"{indent}{statement}\n{after}"))


def test_a_typo_in_what_was_added_is_all_that_is_told(kept: Workshop) -> None:
    added(kept, "if epoch == 1: print('PROBE', totl)")
    done = kept.florc("replay", "train.py")
    assert done.code == 1 and done.err.splitlines()[-1].startswith("NameError: name 'totl' is not defined"), done
    unbound, told = done.said.splitlines()
    assert "train.py:6: totl is bound nowhere in this file [F109]" in unbound
    assert "the added statement (train.py:6) raised NameError in epoch=1;" in told
    report = json.loads(kept.florc("replay", "--json", "train.py").out)
    assert report["verdict"] == "anomalous" and len(report["anomalies"]) == 1
    shared = kept.florc("replay", "--workers", "2", "train.py")
    assert shared.code == 1 and shared.err == done.err and "florc: florc:" not in shared.said, shared
    assert re.search(r"worker 1, iterations 0 to \d of L1: ended early after", shared.said), shared
    assert shared.said.count("raised NameError") == 1 and "ANOMALOUS" not in shared.said


@pytest.mark.parametrize(
    "statement, told",
    [
        ("raise ValueError(epoch)", "the script raised ValueError in epoch=2"),
        ("raise SystemExit(3)", "the script exited with code 3 in epoch=2"),
    ],
)
def test_an_end_that_the_record_has_not(workshop: Workshop, statement: str, told: str) -> None:
    stop = f'    if epoch == 2 and os.path.exists("stop"): {statement}\n        print("epoch"'
    workshop.write("train.py", SCRIPT.replace("import time", "import os, time").replace('    print("epoch"', stop))
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    workshop.write("stop", "")
    done = workshop.florc("replay", "train.py")
    [said] = done.said.splitlines()
    assert done.code == 1 and f"{told}, and the recorded run did not; blocks were restored, --step-into all" in said, done
    verified = workshop.florc("verify")
    assert verified.code == 1 and f"DIFFERS in 1 place, first in {told}" in verified.said, verified.said


def test_ctrl_c_ends_a_replay(kept: Workshop) -> None:
    added(kept, "print('PROBE', flush=True)")
    done = kept.florc("replay", "train.py", interrupt_after="PROBE")
    assert (done.code, done.err) == (130, "") and done.said.startswith("florc: interrupted at train.py:"), done


def test_the_hint_to_run_all_again_is_for_what_was_restored(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        SCRIPT.replace("import time", "import os, time").replace('"done"', "'florc.record.session' in __import__('sys').modules"),
    )
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    hint = "--step-into all runs every block again"
    restored, ran = workshop.florc("replay", "train.py"), workshop.florc("replay", "--step-into", "all", "train.py")
    assert restored.code == ran.code == 1 and "differs from the record in 1 place;" in ran.said
    assert hint in restored.said and hint not in ran.said


@pytest.mark.parametrize("words", [["pkg/train.py"], ["-m", "pkg.train"]])
@pytest.mark.parametrize("is_package", [True, False])
def test_a_plan_follows_relative_imports(workshop: Workshop, words: list, is_package: bool) -> None:
    (workshop.path / "pkg").mkdir()
    if is_package:
        workshop.write("pkg/__init__.py", "")
    workshop.write("pkg/engine.py", "def fit(model, data):\n    for row in data:\n        model.append(row)\n")
    workshop.write("pkg/train.py", "from .engine import fit\nmodel = []\nfor epoch in range(3):\n    fit(model, [1])\n")
    done = workshop.florc("plan", *words)
    assert done.code == 0 and "pkg.engine.L1  line 2" in done.out and "cannot see the code" not in done.out, done


def test_an_error_of_florc_while_an_added_statement_is_watched(workshop, monkeypatch) -> None:
    """The answer is given, and is not called exact."""
    script = "import time\nw = 0\nfor epoch in range(3):\n    for step in range(3):\n        w += step\n        time.sleep(0.01)\n    print(w)\n"
    site = workshop.path.parent / f"{workshop.path.name}-site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import os\nif '_FLORC_STARTED' in os.environ:\n    from florc.replay.session import purity as looking\n"
        "    def fails(*words): raise KeyError('injected')\n    looking.Looking._begin = fails\n"
    )
    workshop.write("train.py", script)
    assert workshop.florc("record", "train.py").code == 0
    workshop.write("train.py", script + "    print('PROBE', w)\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    done = workshop.florc("replay", "train.py")
    assert done.out == "PROBE 3\nPROBE 6\nPROBE 9\n" and done.err == "", done
    assert "unverified" in done.said and "train.py:8: KeyError: 'injected'" in done.said and "exact" not in done.said, done


SHORT = "; no loop took long enough to be worth a checkpoint (--overhead)"


@pytest.mark.parametrize(
    "text, why, told",
    [
        ("print(1)\n", "; it has no loop", ""),
        ("import time\nfor step in range(3):\n    time.sleep(0)\n    total = step\nprint(total)\n", SHORT, ""),
        (
            "import decimal\nfor step in range(3):\n    decimal.getcontext().prec = 9\n",
            "",
            "L1 will run again on replay: line 3: decimal.getcontext() can change any name",
        ),
        (
            "import time\nmade = [(x for x in [1, 2])]\nnext(made[0])\nother = made[:]\nfor step in range(3):\n    time.sleep(0.1)\n"
            "    made.append(x for x in [step])\nprint(len(made))\n",
            "",
            "L1 will run again on replay: ",
        ),
    ],
    ids=["no loop", "short", "left alone", "cannot be kept"],
)
def test_a_run_of_which_nothing_is_kept_says_what_a_replay_will_cost_and_why(
    workshop: Workshop, text: str, why: str, told: str
) -> None:
    workshop.write("train.py", text)
    said = workshop.florc("record", *(["--overhead", "0.99"] if told else []), "train.py").said
    found = re.search(r"there is nothing to restore: a replay takes as long as the run did, [\d.]+ m?s(.*)", said)
    assert found and found.group(1) == why and told in said, said
    assert ("will run again" in said) == bool(told), said


@pytest.mark.parametrize(("start", "drain", "told"), [(0.03, 0.04, ""), (0.1, 0.2, ", and 0.3 s to start and to end")])
def test_what_recording_took_around_the_script_is_told_where_it_is_worth_a_word(start: float, drain: float, told: str) -> None:
    from florc.record.command import _around

    assert _around({"start_seconds": start, "drain_seconds": drain}) == told


def test_the_overhead_is_that_of_the_time_between_the_first_line_and_the_last() -> None:
    """What came before the first line is no part of it, what goes on beside the script is."""
    from florc.record.session import Recording

    kept = SimpleNamespace(materializer=SimpleNamespace(background_s=0.25))
    one = SimpleNamespace(_blocks=kept, spent=0.75, _spent_before=0.5, _begun=103.0, started=100.0)
    assert Recording._overhead(one, elapsed=8.25) == 0.5 / 5  # type: ignore[arg-type]
    one._blocks = None
    assert Recording._overhead(one, elapsed=8.25) == 0.25 / 5  # type: ignore[arg-type]
