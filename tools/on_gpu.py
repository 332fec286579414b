"""Runs the tests or the benchmark that need CUDA, on a machine that may have neither a compiler nor a network:
`make test-gpu`, `make bench-gpu`.

florc is unpacked from the newest wheel in target/wheels (`make wheel`, anywhere: one wheel serves every Python from 3.10
on), torch and pytest are this Python's own. Without CUDA it says so, and nothing has failed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = [f"tests/{name}.py" for name in ("test_cuda", "test_cuda_programs", "test_device_staging", "test_device_training")] + [
    "tests/state"
]


def has_cuda() -> bool:
    """Whether this Python has a torch that sees a device."""
    asked = subprocess.run(
        [sys.executable, "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"], stderr=subprocess.DEVNULL
    )
    return asked.returncode == 0


def unpacked() -> str:
    """The folder with florc in it; empty where this Python has florc and there is no wheel."""
    wheels = sorted((ROOT / "target" / "wheels").glob("florc-*.whl"), key=os.path.getmtime)
    if not wheels:
        return ""
    site = ROOT / "target" / "gpu"
    shutil.rmtree(site, ignore_errors=True)
    with zipfile.ZipFile(wheels[-1]) as wheel:
        wheel.extractall(site)
    return str(site)


def main() -> int:
    words = sys.argv[1:]
    if words[:1] not in (["test"], ["bench"]):
        print("usage: on_gpu.py test | bench [--write]", file=sys.stderr)
        return 2
    if not has_cuda():
        print(f"no CUDA device here: nothing was {'tested' if words[0] == 'test' else 'measured'}")
        return 0
    path = [unpacked(), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    command = ["-m", "pytest", *TESTS] if words[0] == "test" else [str(ROOT / "tools" / "bench_gpu.py")]
    return subprocess.run(
        [sys.executable, *command, *words[1:]], env=environment, cwd=ROOT / "pyruntime" if words[0] == "test" else ROOT
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
