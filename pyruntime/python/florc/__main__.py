"""The `florc` command, and the process in which a script is recorded or replayed.

`record`, `replay` and `verify` run in a process of their own, started from this file: with a fixed hash seed, and with nothing
of florc between the interpreter and the script. The script gets this module, `__main__`, emptied.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> int:
    """Run the command line; the exit code."""
    if sys.argv[1:2] == ["record"]:
        try:
            from florc.process import start

            start.again()
        except Exception as error:
            _plainly(error)
    from florc.cli.main import run

    return int(run(sys.argv))  # type: ignore[arg-type]  # scripts run in processes of their own


def _prepare() -> object:
    """What `_native.run_main` calls: an exit code, or the script to run (`launch.Prepared`)."""
    try:
        from florc.cli.main import run

        return run(sys.argv)
    except Exception as error:
        _plainly(error)


def _plainly(error: Exception) -> "NoReturn":
    """Run a script that was to be recorded as if florc were not there."""
    if sys.argv[1:2] != ["record"]:
        raise error
    from florc.process import start

    start.plainly(start.plain_words(sys.argv[2:]), f"an error inside florc, {type(error).__name__}: {error}")


def _leave_own_folder() -> None:
    """Python puts this file's folder on `sys.path`; nothing of the package may be importable as a top-level module."""
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.realpath(sys.path[0]) == os.path.realpath(here):  # which Python has resolved
        sys.path[0] = os.path.dirname(here)
    else:  # `python -P`
        sys.path.insert(0, os.path.dirname(here))


def _fill_closed_streams() -> None:
    """Where the process was started without one of the three standard streams, a file of florc's own would take its number, and
    what libraries of C write there would go into it. Such a number stays as good as closed: nothing can be read from or written
    to it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number == 0 else os.O_RDONLY)  # the lowest number that is free


if __name__ == "__main__":
    if sys.argv[1:2] != ["record"]:  # what `record` holds open has high numbers: the script's files have those of a plain run
        _fill_closed_streams()
    # a `sitecustomize` that imports florc has taken the mark out of the environment already
    if "_FLORC_STARTED" in os.environ or getattr(sys.modules.get("florc.process.start"), "_before", None) is not None:
        try:
            import gc

            gc.disable()  # what is imported now stays; `launch.become_main` ends that
            _leave_own_folder()
            from florc._native import run_main
        except Exception as error:
            _plainly(error)
        run_main(_prepare, _plainly)
    else:
        sys.exit(main())
