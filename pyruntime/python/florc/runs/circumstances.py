"""Under which circumstances a run was recorded: what to look at when a replay does not arrive at the same values."""

from __future__ import annotations

import os
import sys

from ..support.light import suppress
from ..support.static import attributes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VARIABLES = (
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_VISIBLE_DEVICES",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NVIDIA_TF32_OVERRIDE",
    "PYTHONOPTIMIZE",
)
"""Environment variables that change how numbers come out. No others are kept: they may hold secrets."""


_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def present() -> dict[str, Any]:
    """Versions, processor, devices, threads, settings of this process, by what people call them."""
    found: dict[str, Any] = {"Python": sys.version.split()[0], "processor": _processor()}
    found.update((name, os.environ.get(name)) for name in VARIABLES)
    for name, module in list(sys.modules.items()):
        version = attributes_of(module).get("__version__")  # asking a module that makes it up may warn
        if "." not in name and isinstance(version, str) and name not in sys.stdlib_module_names and name != "florc":
            found[name] = version
    with suppress(Exception):
        found.update(_of_torch(sys.modules["torch"]))
    return found


def installed() -> dict[str, set[str]]:
    """Folders in which distributions are installed, and the top-level names of the modules that were loaded from each."""
    found: dict[str, set[str]] = {}
    for name, module in list(sys.modules.items()):
        path: Any = attributes_of(module).get("__file__")
        for kind in _INSTALLED if isinstance(path, str) else ():
            head, is_below, _ = path.partition(kind)
            if is_below:
                found.setdefault(head + is_below, set()).add(name.partition(".")[0])
    return found


def _processor() -> str:
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return os.uname().machine


def _of_torch(torch: Any) -> dict[str, Any]:
    found = {
        "threads of torch": torch.get_num_threads(),
        "instruction set": torch.backends.cpu.get_cpu_capability(),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "precision of matrix products": torch.get_float32_matmul_precision(),
    }
    if torch.cuda.is_initialized():
        devices = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
        found.update(
            {
                "CUDA devices": ", ".join(devices),
                "CUDA": torch.version.cuda,
                "cuDNN": torch.backends.cudnn.version(),
                "cuDNN benchmark": torch.backends.cudnn.benchmark,
            }
        )
    return found


def changed(recorded: dict[str, Any]) -> list[str]:
    """What is otherwise now: `torch 2.14.0, now 2.15.0`."""
    now = present()
    known = [name for name in recorded if name in now]  # a module that is not loaded now says nothing
    return [f"{name} {_said(recorded[name])}, now {_said(now[name])}" for name in known if recorded[name] != now[name]]


def _said(value: Any) -> str:
    return "unset" if value is None else "on" if value is True else "off" if value is False else str(value)


def is_undetermined_on_cuda(recorded: dict[str, Any]) -> bool:
    """Whether kernels ran whose results may change from run to run."""
    return "CUDA devices" in recorded and not recorded.get("deterministic algorithms")
