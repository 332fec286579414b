"""The example scripts: recorded output is identical to a plain run's, and every probe is answered bit for bit.

Every change is tested with fewer epochs and with probes asked together; `FLORC_FULL` (`make test-all`): whole and one by one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import warm

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS.parents[1] / "tools"), str(TESTS / "replay")]

from exactness import rows_of  # noqa: E402
from harness import EVERY_NUMBER, other_day  # noqa: E402
from probes import environment, insert_all, load, scripts, shortened, tagged, write  # noqa: E402

BESIDE = ("outer", "phase", "epoch", "evaluation", "after")
"""Probes that leave the loops of the steps as they are: these are restored."""


@pytest.fixture(autouse=True)
def sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay that is exact looks whether it would see each number change, and sees other clocks."""
    monkeypatch.setenv("PYTHONPATH", str(EVERY_NUMBER))  # says `florc: sweep: …`
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    for name, value in other_day().items():
        monkeypatch.setenv(name, value)


@pytest.mark.skipif("FLORC_FULL" in os.environ, reason="asked one by one")
@pytest.mark.parametrize("script", scripts())
def test_probes_are_answered_exactly(script: str, tmp_path: Path) -> None:
    texts = shortened(script)
    # one that draws random numbers would have led to another run
    probes = [tagged(probe) for probe in load(script) if "rand" not in probe.insert]
    imports = "\n".join(texts.values())

    def run(texts: dict[str, str], *words: str) -> warm.Finished:
        write(tmp_path, texts)
        done = warm.run(words, imports, tmp_path, environment(), script, timeout=300)
        assert done.returncode == 0, done.stderr
        return done

    wanted = run(insert_all(texts, probes), script).stdout.splitlines()
    recorded = run(texts, "-m", "florc", "record", script)
    assert recorded.stdout.splitlines() == [line for line in wanted if not line.startswith("@")], recorded.stderr
    for asked in ([probe for probe in probes if probe.name in BESIDE], probes):
        replayed = run(insert_all(texts, asked), "-m", "florc", "replay", script)
        tags = tuple(f"@{probe.name}@ " for probe in asked)
        assert replayed.stdout.splitlines() == [line for line in wanted if line.startswith(tags)], replayed.stderr
        assert "florc: exact: " in replayed.stderr and "florc: sweep: " not in replayed.stderr, replayed.stderr
        assert {line.split()[0] for line in wanted if line.startswith("@")} >= {tag.strip() for tag in tags}


@pytest.mark.skipif("FLORC_FULL" not in os.environ, reason="an hour of one processor")
@pytest.mark.parametrize("script", scripts())
def test_every_probe_is_answered_exactly(script: str, tmp_path: Path) -> None:
    rows = rows_of(script, tmp_path, with_workers=False)
    assert {row.probe for row in rows} >= {"outer", "inner"}
    for row in rows:
        print(
            f"ROW {row.script} {row.probe}: {row.values} values, {row.verdict}{' (it draws)' * row.draws}, "
            f"replay {row.replay_s:.1f} s, re-run {row.rerun_s:.1f} s; {row.why}"
        )
        assert row.values > 0
        assert row.is_called_right, f"{row.verdict}: {row.why}"
