"""P8: an instrumented program that nobody records is the plain program: output, errors, exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
import warm
from florc import _native
from harness import MAIN, before, split
from test_small_scripts import SCRIPTS

# Programs that look at lines, frames or their list of names see the text that they run in; some values differ every time.
LOOKS = (
    "torch",
    "TRUTH",
    "traceback",
    "inspect",
    "_getframe",
    "f_lineno",
    "co_",
    "dir()",
    "globals()",
    "stack",
    "unseeded",
    "warnings",
    "default_rng()",
)
LIGHT = [
    name for name, case in SCRIPTS.items() if not case.options and not any(word in case.text or word in name for word in LOOKS)
]


def ran(folder: Path, files: dict, rewrite: bool) -> tuple[int, str, str]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_native.instrument(text, name).text if rewrite else text)
    env = {warm.HASH_SEED: "1", "PATH": "/usr/bin:/bin"}
    done = warm.run([MAIN], "\n".join(files.values()), folder, env, folder.parent.name)
    return done.returncode, done.stdout, "" if done.returncode == 0 else "".join(done.stderr.splitlines()[-1:])


@pytest.mark.parametrize("names", [LIGHT[at::4] for at in range(4)], ids=range(4))
def test_instrumented_programs_are_the_plain_ones(names: list[str], tmp_path: Path) -> None:
    different = []
    for name in names:
        files = {file: before(lines) for file, lines in split(SCRIPTS[name].text).items()}
        plain = ran(tmp_path / name / "plain", files, False)
        if ran(tmp_path / name / "instrumented", files, True) != plain:
            different.append(name)
    assert len(names) > 20 and not different
