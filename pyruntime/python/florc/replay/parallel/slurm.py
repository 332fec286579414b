"""Job scripts for machines that share a file system: each task of a job array replays one part."""

from __future__ import annotations

import os
import shlex
import sys

from ...runs.run import Run

_TAKES_A_WORD = ("--workers", "--emit")


def slurm(run: Run, words: list[str], count: int) -> str:
    """A script for `sbatch`: a job array of `count` tasks. `words` is the command line that asks for it."""
    kept = _without(words, _TAKES_A_WORD)
    here = os.getcwd()
    store = [f"export FLORC_DIR={shlex.quote(os.environ['FLORC_DIR'])}"] if os.environ.get("FLORC_DIR") else []
    command = shlex.join([sys.executable, "-m", "florc", *kept])
    return (
        "\n".join(
            [
                "#!/bin/bash",
                f"#SBATCH --job-name=florc-{run.id}",
                f"#SBATCH --array=1-{count}",
                f"#SBATCH --chdir={here}",
                "#SBATCH --output=florc-replay-%a.out",
                "#SBATCH --error=florc-replay-%a.log",
                f"# The answer is the outputs of all tasks, one after another: cat florc-replay-{{1..{count}}}.out",
                *store,
                f'exec {command} --shard "$SLURM_ARRAY_TASK_ID/{count}"',
            ]
        )
        + "\n"
    )


def _without(words: list[str], options: tuple[str, ...]) -> list[str]:
    kept, is_value = [], False
    for word in words:
        if is_value:
            is_value = False
        elif word in options:
            is_value = True
        elif not word.startswith(tuple(f"{option}=" for option in options)):
            kept.append(word)
    return kept
