"""A project that was renamed, or copied to another machine with its runs, is replayed where it lies now."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from florc.runs import relocate as moved
from workshop import Workshop

ENGINE = """
import random

def train_one(net):
    total = 0.0
    for step in range(5):
        net["w"] += random.random()
        total += net["w"]
    #PROBE
    return total
"""
SCRIPT = """
import time
from engine import train_one

class Optimizer:
    def step(self):
        time.sleep(0.005)

net, optimizer = {"w": 0.0}, Optimizer()
for epoch in range(4):
    for part in range(3):
        net["w"] *= 0.9
        train_one(net)
        optimizer.step()
    print(epoch, net["w"])
"""
PROBE = 'print("PROBE", total)'


@pytest.fixture
def first(tmp_path: Path) -> Workshop:
    (tmp_path / "first").mkdir()
    shop = Workshop(tmp_path / "first")
    shop.write("engine.py", ENGINE)
    shop.write("train.py", SCRIPT)
    done = shop.florc("record", "--overhead", "0.9", "train.py")
    assert done.code == 0, done
    return shop


def ask(shop: Workshop) -> None:
    shop.write("engine.py", ENGINE.replace("#PROBE", PROBE))


@pytest.mark.parametrize("is_copy", [True, False])
def test_the_files_of_the_new_place_run(first: Workshop, is_copy: bool) -> None:
    ask(first)
    expected = first.florc("replay", "train.py")
    second = Workshop(first.path.with_name("second"))
    (shutil.copytree if is_copy else shutil.move)(str(first.path), str(second.path))
    if is_copy:
        first.write("engine.py", "raise SystemExit('the old file ran')")
    for words in (["train.py"], ["latest", "train.py"], ["--workers", "2", "train.py"]):
        done = second.florc("replay", *words)
        assert done.code == 0, done.said
        assert done.out == expected.out != ""
        assert "exact:" in done.said and done.said.count(f"is replayed in {second.path}") == 1
    verified = second.florc("verify")
    assert verified.code == 0 and "exact:" in verified.said, verified.said


def test_a_project_that_left_its_store_is_found_by_its_script(first: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.move(str(first.path / ".florc"), str(first.path.with_name("store")))
    second = Workshop(first.path.rename(first.path.with_name("second")))
    ask(second)
    monkeypatch.setattr(
        second, "environment", lambda: {**Workshop.environment(second), "FLORC_DIR": str(second.path.with_name("store"))}
    )
    done = second.florc("replay", "train.py")
    assert done.code == 0 and done.out.count("PROBE") == 12, done


def test_another_script_may_run_in_its_place(first: Workshop) -> None:
    first.write("train2.py", SCRIPT.replace("    print(epoch", "    print('PROBE', net)\n    print(epoch"))
    unknown = first.florc("replay", "train2.py")
    assert unknown.code == 2 and "no recorded run of train2.py" in unknown.said
    assert "florc replay 2" in unknown.said, "the way out"
    done = first.florc("replay", "latest", "train2.py")
    assert done.code == 0 and done.out.count("PROBE") == 4, done
    assert "train2.py runs in the place of" in done.said


def run_of(script: str, cwd: str, store: str) -> dict:
    return {"script": script, "cwd": cwd, "store": store, "argv": [script, "/first/data"], "sources": {script: {}}}


def test_only_what_lay_in_the_project_is_elsewhere_now(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "train.py").write_text("")
    old, new = str(tmp_path / "a"), str(tmp_path / "b")
    info = run_of(f"{old}/train.py", old, f"{old}/.florc")
    found = moved.since(info, f"{new}/.florc", f"{new}/train.py")
    assert found == moved.Moved(old, new)
    assert found.path(f"{old}b/train.py") == f"{old}b/train.py" and found.path(old) == new
    here = found.info(info)
    assert here["script"] == f"{new}/train.py" and here["argv"] == [f"{new}/train.py", "/first/data"]
    assert list(here["sources"]) == [f"{new}/train.py"] and here["cwd"] == new
    assert moved.since(info, f"{old}/.florc", f"{old}/train.py") is None
    assert moved.since(info, f"{new}/.florc", f"{old}/train.py") is None, "only the store was moved"
