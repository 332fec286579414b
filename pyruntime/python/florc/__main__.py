"""The `florc` command. Also what `florc record` and `florc replay` start again with a fixed hash seed."""

import os
import sys


def main() -> int:
    """Run the command line; the exit code."""
    from florc.commands import run

    return run(sys.argv)


def _leave_own_folder() -> None:
    """Python puts this file's folder on `sys.path`; nothing of the package may be importable as a top-level module."""
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        sys.path[0] = os.path.dirname(here)


if __name__ == "__main__":
    _leave_own_folder()
    sys.exit(main())
