"""The example scripts: recorded output is identical to a plain run's, and every probe is answered bit for bit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS.parents[1] / "tools"), str(TESTS / "replay")]

from exactness import rows_of  # noqa: E402
from harness import EVERY_NUMBER, other_day  # noqa: E402
from probes import scripts  # noqa: E402


@pytest.mark.parametrize("script", scripts())
def test_every_probe_is_answered_exactly(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(EVERY_NUMBER))  # says `florc: sweep: …`
    for name, value in other_day().items():
        monkeypatch.setenv(name, value)
    rows = rows_of(script, tmp_path, with_workers=False)
    assert {row.probe for row in rows} >= {"outer", "inner"}
    for row in rows:
        print(
            f"ROW {row.script} {row.probe}: {row.values} values, {row.verdict}{' (it draws)' * row.draws}, "
            f"replay {row.replay_s:.1f} s, re-run {row.rerun_s:.1f} s; {row.why}"
        )
        assert row.values > 0
        assert row.exact and row.verdict in ("exact", "unverified"), f"{row.verdict}: {row.why}"
