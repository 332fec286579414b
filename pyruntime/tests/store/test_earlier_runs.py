"""Runs that earlier versions recorded (testdata/stores) are replayed exactly."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from workshop import Workshop

STORES = Path(__file__).resolve().parents[3] / "testdata" / "stores"
PROBES = {
    "plain": ('    print("epoch"', '    print("PROBE", epoch, weight, history[-1])'),
    "loops": ('    print("epoch"', '    print("PROBE", epoch, weights.sum(), momentum["w"].tolist(), momentum["steps"])'),
    "files": ('    print("epoch"', '    print("PROBE", epoch, best, len(log), log[-1])'),
    "left": ('    print("fold"', '    print("PROBE", fold, weight, history[-1])'),
}
INNER = {
    "plain": ("        history.append(", '        print("PROBE", epoch, step, weight)'),
    "loops": ("        weights[:] -=", '        print("PROBE", step, gradient.sum())'),
    "files": ("        loss *=", '        print("PROBE", epoch, step, loss)'),
    "left": ("    weight = 0.9", '    print("PROBE", weight)'),
}


def insert(text: str, before: str, added: str) -> str:
    assert text.count(before) == 1
    return text.replace(before, f"{added}\n{before}")


def recorded_then(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A folder as a user had it then."""
    (tmp_path / "config" / "florc").mkdir(parents=True, mode=0o700)
    shutil.copy(STORES / "key", tmp_path / "config" / "florc" / "key")
    (tmp_path / "config" / "florc" / "key").chmod(0o600)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    shutil.copytree(STORES / name, tmp_path / name)
    (tmp_path / name / "store").rename(tmp_path / name / ".florc")
    return Workshop(tmp_path / name)


def test_places_behind_a_loop_that_was_left_are_those_of_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = recorded_then("left", tmp_path, monkeypatch)
    edited = insert((STORES / "left" / "train.py").read_text(), '    print("epoch"', '    print("PROBE", epoch, weight)')
    (recorded.path / "train.py").write_text(edited)
    wanted = [line for line in recorded.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    for asked, answer in (("epoch=1", wanted[1:2]), ("2:", wanted[2:])):
        done = recorded.florc("replay", "--iterations", asked, "train.py")
        assert (done.out.splitlines(), done.code) == (answer, 0), done.said
        assert "florc: exact" in done.said, done.said


@pytest.mark.parametrize("name", PROBES)
def test_an_earlier_run_is_replayed_exactly(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded, fresh = recorded_then(name, tmp_path, monkeypatch), Workshop(tmp_path / "fresh")
    fresh.path.mkdir()
    text = (STORES / name / "train.py").read_text()
    for place, restores in ((PROBES[name], True), (INNER[name], False)):
        edited = insert(text, *place)
        (recorded.path / "train.py").write_text(edited)
        shutil.rmtree(fresh.path)
        fresh.path.mkdir()
        (fresh.path / "train.py").write_text(edited)
        wanted = [line for line in fresh.plain("train.py").out.splitlines() if line.startswith("PROBE")]
        done = recorded.florc("replay", "train.py")
        assert (done.out.splitlines(), done.code) == (wanted, 0), done.said
        assert "florc: exact" in done.said, done.said
        assert ("0 blocks restored" not in done.said) == restores, done.said
