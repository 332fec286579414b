"""`florc replay --ray ADDRESS`: the workers of a parallel replay as tasks of a Ray cluster (the extra `florc[ray]`).

Every node must see the recorded run, the script and florc under the same paths, as for `--emit slurm`.
"""

from __future__ import annotations

import contextlib
import os
import socket
from typing import Any

from ...project.script import Unusable
from .workers import Launch

_PATIENCE_S = 5


def launcher(address: str) -> Launch:
    """A function that starts commands on the cluster at `address` (`auto`, `host:port`, `ray://host:port`). Raises Unusable."""
    try:
        import ray
    except ImportError:
        raise Unusable("F105", "--ray needs the package ray: pip install 'florc[ray]'") from None
    _refuse_silence(address)
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except Exception as error:
        raise Unusable("F105", f"no Ray cluster answers at {address}: {error}") from None

    def launch(command: list[str], environment: dict[str, str], out: str, log: str) -> _Task:
        return _Task(ray, command, environment, out, log)

    return launch


def _refuse_silence(address: str) -> None:
    """Ray itself waits for minutes for a host that does not answer."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), _PATIENCE_S).close()
    except OSError as error:
        raise Unusable("F105", f"no Ray cluster answers at {address}: {error}") from None


class _Task:
    """A command that a task of the cluster runs."""

    def __init__(self, ray: Any, command: list[str], environment: dict[str, str], out: str, log: str):
        self._ray, self._log = ray, log
        self._code: int | None = None
        # florc has its own way of trying again, and says so
        self._task = ray.remote(max_retries=0)(_run).remote(command, environment, os.getcwd(), out, log)

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        if self._code is None and self._ray.wait([self._task], timeout=0)[0]:
            try:
                self._code = self._ray.get(self._task)
            except Exception as error:  # the node is gone, or its worker was ended
                self._code = 1
                with contextlib.suppress(OSError), open(self._log, "a", encoding="utf-8") as log:
                    log.write(f"{type(error).__name__}: {error}\n")
        return self._code

    def ask_to_end(self) -> None:
        """Cancel the task: the command ends with the process that runs it."""
        if self.poll() is None:
            self._ray.cancel(self._task, force=True)

    def end(self, patience: float) -> None:
        """Wait until the task has ended."""
        self._ray.wait([self._task], timeout=patience)


def _run(command: list[str], environment: dict[str, str], folder: str, out: str, log: str) -> int:
    """On a node: with its devices, and the rest of the environment as where the replay was asked for."""
    import subprocess

    devices = {name: value for name, value in os.environ.items() if name.endswith("VISIBLE_DEVICES")}
    with open(out, "wb") as written, open(log, "ab") as said:
        return subprocess.run(
            command, cwd=folder, env={**environment, **devices}, stdin=subprocess.DEVNULL, stdout=written, stderr=said
        ).returncode
