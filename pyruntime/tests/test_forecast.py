"""`florc replay --dry-run` and `--emit slurm`: what they say, without running anything."""

from __future__ import annotations

import re

from test_parallel_replay import FLAT, NESTED, probes_of, record, replay, version
from workshop import Workshop


def test_the_estimate_and_the_parts(workshop: Workshop) -> None:
    slow = NESTED.replace("0.004", "0.05")
    record(workshop, slow)
    workshop.write("train.py", version(slow, probes_of(slow)))
    one = replay(workshop, "--dry-run")
    assert one.code == 0 and "PROBE" not in one.out.replace('print("PROBE', "")
    found = re.search(r"^about ([\d.]+) s, the recorded run took ([\d.]+) s$", one.out, re.MULTILINE)
    assert found and 0.9 < float(found.group(1)) <= float(found.group(2)) + 0.2, one.out
    parts = replay(workshop, "--dry-run", "--workers", "2").out
    assert re.search(r"^about [\d.]+ s in 2 parts, [\d.]+ s in one, the recorded run took", parts, re.MULTILINE), parts
    cut = r"^  1/2: iterations 0 to \d of L1: [\d.]+ s\n  2/2: iterations \d to the end of L1: "
    assert re.search(cut, parts, re.MULTILINE), parts
    assert "for iterations 2 to 3 of L1" in replay(workshop, "--dry-run", "--iterations", "2:4").out
    outer = [probe for probe in probes_of(slow) if "outer" in slow.splitlines()[probe]]
    workshop.write("train.py", version(slow, outer))
    found = re.search(r"^about ([\d.]+) s", replay(workshop, "--dry-run").out, re.MULTILINE)
    assert found and float(found.group(1)) < 0.6


def test_a_loop_that_is_restored_whole_is_not_cut(workshop: Workshop) -> None:
    record(workshop, FLAT)
    workshop.write("train.py", version(FLAT, probes_of(FLAT)[1:]))
    assert "parts" not in replay(workshop, "--dry-run", "--workers", "4").out
    done = replay(workshop, "--workers", "4")
    assert (done.out, done.code) == ("PROBE after 66.0\n", 0) and "one process replays the run" in done.said
    assert replay(workshop, "--shard", "2/4").out == ""


def test_a_job_array(workshop: Workshop) -> None:
    record(workshop, NESTED)
    file = workshop.write("train.py", version(NESTED, probes_of(NESTED)))
    script = replay(workshop, "--workers", "3", "--emit", "slurm", "--json")
    assert script.code == 0 and script.out.startswith("#!/bin/bash\n#SBATCH ")
    assert "#SBATCH --array=1-3\n" in script.out
    (workshop.path / "job.sh").write_text(script.out)
    parts = ""
    for task in ("1", "2", "3"):
        done = workshop.run("env", f"SLURM_ARRAY_TASK_ID={task}", "bash", "job.sh")
        assert done.code == 0, done
        parts += "".join(f"{line}\n" for line in done.out.splitlines() if '"text"' in line)
    whole = replay(workshop, "--json").out.splitlines(keepends=True)[:-1]
    assert parts == "".join(whole) and file.exists()
