"""Whatever is changed in a store is noticed or harmless: no wrong value is called exact, nothing crashes or hangs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workshop import Workshop

TRAIN = """
    import random, sys, time
    random.seed(int(sys.argv[1]))
    weights, seen = [0.0] * 4, {"a", "b", "c", "d", "e"}
    print("begins with", weights)
    for epoch in range(5):
        for step in map(int, range(3)):
            time.sleep(0.004)
            weights[step] += random.random() * float(sys.argv[1])
        #PROBE
        print("epoch", epoch, sum(weights))
    print("done", weights)
    """
OTHER = """
    import sys
    from helper import advance
    state = {"x": 1.0, "history": []}
    for epoch in range(4):
        advance(state, sys.argv[1])
        #PROBE
        print(epoch, state["x"])
    """
HELPER = """
    import random, time
    def advance(state, by):
        for step in map(float, range(3)):
            time.sleep(0.004)
            state["x"] *= 1 + random.random() / len(by)
            state["history"].append(state["x"])
    random.seed("helper")
    """
TRAIN_PROBE = 'print("PROBE", epoch, weights, sys.argv, list(seen), random.random.__self__.getstate()[1][-1])'
OTHER_PROBE = 'print("PROBE", epoch, state, sys.argv, hash("seed"))'
ALL, SAMPLE = 5000, 60


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with four runs, one of them killed, statements added since, and what they print when the scripts run plainly."""
    folder = tmp_path_factory.mktemp("mutations")
    (folder / "project").mkdir()
    shop = Workshop(folder / "project")
    shop.environment = lambda: {**Workshop.environment(shop), "PYTHONHASHSEED": "0"}  # type: ignore[method-assign]
    shop.write("helper.py", HELPER)
    truth = {}
    for name, text, probe, arguments, killed in (
        ("train.py", TRAIN, TRAIN_PROBE, ["3"], None),
        ("train.py", TRAIN, TRAIN_PROBE, ["7"], "epoch 3"),
        ("train.py", TRAIN, TRAIN_PROBE, ["5"], None),
        ("other.py", OTHER, OTHER_PROBE, ["xy"], None),
    ):
        before = set((folder / "project" / ".florc" / "runs").glob("*"))
        shop.write(name, text)
        words = ["record", "--overhead", "0.9", "--name", Path(name).stem + arguments[0], name, *arguments]
        done = shop.florc(*words, kill_after=killed)
        while killed and "done" in done.out:  # the signal came late, after all that the script prints
            assert shop.florc("rm", words[4]).code == 0
            done = shop.florc(*words, kill_after=killed)
        assert done.code == (0 if killed is None else -9)
        [run] = set((folder / "project" / ".florc" / "runs").glob("*")) - before
        shop.write(name, text.replace("#PROBE", probe))
        plain = shop.plain(name, *arguments).out.splitlines(keepends=True)
        truth[run.name] = "".join(line for line in plain if line.startswith("PROBE"))
    shutil.copytree(folder / "project" / ".florc", folder / "good")
    (folder / "truth.json").write_text(json.dumps(truth))
    for run, expected in truth.items():
        done = shop.florc("replay", run, "other.py" if run.endswith("otherxy") else "train.py")
        is_killed = run.endswith("train7")
        assert done.out == expected or is_killed and done.out and expected.startswith(done.out), done
        assert "florc: exact" in done.said, done
    return folder


def test_no_change_of_a_store_makes_a_wrong_value_exact(stores: Path) -> None:
    count = ALL if os.environ.get("FLORC_TORTURE") else SAMPLE
    here = Path(__file__).parent
    environment = {**Workshop(stores).environment(), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, str(here / "sweep.py"), str(stores), "0", str(count)], env=environment, capture_output=True, text=True
    )
    *failures, last = done.stdout.splitlines() or [""]
    print(last)
    assert done.returncode == 0, "\n".join([*failures[:20], last, done.stderr[-3000:]])
    assert json.loads(last)["cases"] == count


CHANGES = {
    "argv": lambda info: {**info, "argv": [*info["argv"][:-1], "4"]},
    "hash_seed": lambda info: {**info, "hash_seed": "1"},
    "cwd": lambda info: {**info, "cwd": "/"},
    "store": lambda info: {**info, "store": "/.florc"},
    "name": lambda info: {**info, "name": "other"},
    "module": lambda info: {**info, "module": "this"},
    "started": lambda info: {**info, "started": info["started"] + 1e6},
    "script": lambda info: {**info, "script": info["script"].replace("train", "other")},
    "status": lambda info: {**info, "status": "killed"},
    "sources": lambda info: {**info, "sources": {}},
    "none": lambda info: info,
}


@pytest.mark.parametrize("field", CHANGES)
def test_the_journal_counts_and_not_its_copy(stores: Path, field: str) -> None:
    shop = project(stores)
    [info] = (shop.path / ".florc" / "runs").glob("*-train3/run.json")
    info.write_text(json.dumps(CHANGES[field](json.loads(info.read_text()))))
    truth = json.loads((stores / "truth.json").read_text())[info.parent.name]
    done = shop.florc("replay", info.parent.name, "train.py")
    assert (done.code, done.out) == (0, truth) and "florc: exact" in done.said, done
    is_told = f"run.json does not agree with the journal ({field})" in done.said
    assert is_told == (field not in ("none", "status", "sources")), done


@pytest.mark.parametrize("names", [("train3", "train5"), ("train3", "otherxy")])
def test_the_journal_of_another_run_is_refused(stores: Path, names: tuple) -> None:
    shop = project(stores)
    one, other = (next((shop.path / ".florc" / "runs").glob(f"*-{name}")) for name in names)
    shutil.copy(other / "journal.0", one / "journal.0")
    for command in (["replay", one.name, "train.py"], ["verify", one.name]):
        done = shop.florc(*command)
        assert (done.code, done.out) == (2, "") and f"is the journal of another run, {other.name}" in done.said, done
    assert shop.florc("check", one.name).code == 1


FIELDS = [
    "script",
    "argv",
    "cwd",
    "hash_seed",
    "started",
    "id",
    "name",
    "module",
    "store",
    "ended",
    "status",
    "sources",
    "report",
    "format",
]
VALUES = [None, True, -1, 3, 1e300, float("nan"), "", "a\0b", "\x1b[2J", [], [1], [None], {}, {"a": 1}, {"/a": {"kept": ".."}}]


def test_every_field_of_run_json_may_be_of_any_type(
    stores: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    from florc.cli import main as commands
    from florc.runs import catalog

    shop = project(stores)
    [path] = (shop.path / ".florc" / "runs").glob("*-train3/run.json")
    good = json.loads(path.read_text())
    monkeypatch.setenv("FLORC_DIR", str(shop.path / ".florc"))
    for field in FIELDS:
        for value in VALUES:
            path.write_text(json.dumps({**good, field: value}))
            for run in catalog.all_runs(str(shop.path / ".florc")):
                catalog.line(run)
            for words in (["runs"], ["runs", "--json"], ["runs", "other.py"]):
                assert commands.run(["florc", *words]) == 0
    assert "\x1b" not in capsys.readouterr().out


def project(stores: Path) -> Workshop:
    """The project with its store as it was recorded."""
    shop = Workshop(stores / "project")
    shop.environment = lambda: {**Workshop.environment(shop), "PYTHONHASHSEED": "0"}  # type: ignore[method-assign]
    shutil.rmtree(shop.path / ".florc", ignore_errors=True)
    shutil.copytree(stores / "good", shop.path / ".florc")
    return shop
