"""Libraries are part of the proof: another build of the same version is seen, and what is only installed anew is none."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest
from workshop import Workshop

SCRIPT = """
    import physics, time
    w = 0.0
    for epoch in range(3):
        for step in range(10):
            w += physics.GRAVITY
            time.sleep(0.003)
        print("epoch", epoch)
"""
PROBED = SCRIPT.replace('        print("epoch"', '        print("HIND")\n        print("epoch"')
RECORD = "physics/__init__.py,sha256={},24\nphysics/__pycache__/__init__.cpython-311.pyc,,\n../../../bin/physics,sha256={},10\n"


def _install(folder: Path, gravity: str, digest: str, tool: str) -> None:
    package, described = folder / "site-packages/physics", folder / "site-packages/physics-1.0.dist-info"
    package.mkdir(parents=True, exist_ok=True)
    described.mkdir(exist_ok=True)
    (package / "__init__.py").write_text(f"GRAVITY = {gravity}\n")
    (described / "RECORD").write_text(RECORD.format(digest, tool))
    os.utime(package / "__init__.py", (1e9, 1e9))  # as an installer leaves it that links out of its cache


@pytest.mark.parametrize(
    ("gravity", "digest", "tool", "said"),
    [
        ("9.81", "one", "one", "exact: "),
        ("9.81", "one", "another", "exact: "),
        ("9.91", "another", "one", "changed since recording: physics 1.0 is another build"),
    ],
)
def test_another_build_of_a_library_is_named(
    workshop: Workshop,
    gravity: str,
    digest: str,
    tool: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    elsewhere = tmp_path_factory.mktemp("installed")  # what lies beside the script is the user's own
    monkeypatch.setenv("PYTHONPATH", str(elsewhere / "site-packages"))
    _install(elsewhere, "9.81", "one", "one")
    workshop.write("train.py", SCRIPT)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    _install(elsewhere, gravity, digest, tool)
    workshop.write("train.py", PROBED)
    replayed = workshop.florc("replay", "train.py")
    assert said in replayed.said and replayed.code == 0, replayed.said
    assert ("exact: " in said) == ("exact: " in replayed.said), replayed.said


@pytest.mark.parametrize(("gravity", "said"), [("9.81", "exact: "), ("9.91", "__init__.py was changed after the run began")])
def test_a_module_laid_anew_must_be_what_its_record_lists(
    workshop: Workshop, gravity: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("installed")
    monkeypatch.setenv("PYTHONPATH", str(elsewhere / "site-packages"))
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"GRAVITY = 9.81\n").digest()).rstrip(b"=").decode()
    _install(elsewhere, "9.81", digest, "one")
    workshop.write("train.py", SCRIPT)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    _install(elsewhere, gravity, digest, "one")
    os.utime(elsewhere / "site-packages/physics/__init__.py")
    workshop.write("train.py", PROBED)
    replayed = workshop.florc("replay", "train.py")
    assert said in replayed.said and ("exact: " in said) == ("exact: " in replayed.said), replayed.said
