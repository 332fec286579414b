"""How this process was started, before any code of the user ran."""

from __future__ import annotations

import os
import sys


class Started:
    """The words of the command, the folder, and the environment: what a process that carries on needs."""

    def __init__(self) -> None:
        self.words = list(sys.argv[1:])
        self.folder = os.getcwd()
        self.environment = dict(os.environ)


STARTED = Started()
"""Its words change in a process that answers one question of `florc replay --interactive`, its environment in a worker that was
forked."""
