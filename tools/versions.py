"""`make test-versions`: every Python from 3.10 on that is found here gets an environment, the wheel, and the tests of commands.

    python tools/versions.py [3.12 …]

The wheel is one for all versions (abi3); scripts that import torch or scikit-learn are skipped.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ["tests/replay/test_small_scripts.py", "tests/test_faithful.py", "tests/test_messages.py", "tests/test_positions.py"]
NEEDS = ["pytest", "pytest-xdist", "numpy"]


def pythons() -> dict[str, str]:
    """Version -> interpreter, of those that start."""
    folders = [*os.get_exec_path(), *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin"))]
    found: dict[str, str] = {}
    for path in (file for folder in folders for file in glob.glob(os.path.join(folder, "python3.*"))):
        name = re.fullmatch(r"python(3\.(\d+))", os.path.basename(path))
        if name and int(name[2]) >= 10 and name[1] not in found:
            if subprocess.run([path, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
                found[name[1]] = path
    return dict(sorted(found.items(), key=lambda item: int(item[0].split(".")[1])))


def check(python: str, wheel: Path) -> tuple[bool, str]:
    """Whether all tests passed, and the last line that pytest prints, after those that name what failed."""
    with tempfile.TemporaryDirectory() as folder:
        ours = f"{folder}/bin/python"
        uv = shutil.which("uv")
        if uv:
            subprocess.run([uv, "venv", "--quiet", "--python", python, folder], check=True)
            subprocess.run([uv, "pip", "install", "--quiet", "--python", ours, *NEEDS, str(wheel)], check=True)
        else:
            subprocess.run([python, "-m", "venv", folder], check=True)
            subprocess.run([ours, "-m", "pip", "install", "--quiet", *NEEDS, str(wheel)], check=True)
        command = [ours, "-m", "pytest", "-n", str((os.cpu_count() or 2) + 2), "--dist", "worksteal", *TESTS]
        done = subprocess.run(command, cwd=ROOT / "pyruntime", capture_output=True, text=True, check=False)
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        return done.returncode == 0, "\n".join([*failed, lines[-1] if lines else done.stderr.strip()])


def main(arguments: list[str]) -> int:
    """One line a version; 0 where nothing failed."""
    (wheel,) = (ROOT / "target" / "wheels").glob("florc-*.whl")
    failed = False
    for version, python in pythons().items():
        if not arguments or version in arguments:
            passed, said = check(python, wheel)
            failed |= not passed
            print(f"Python {version}: {said}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
