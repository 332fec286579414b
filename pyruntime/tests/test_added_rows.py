"""Rows that an added statement inserts through the script's own connection are kept beside the file, as lines of a log are."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from workshop import Workshop

SCRIPT = """
    import sqlite3
    c = sqlite3.connect("m.db")
    c.execute("create table if not exists m(k, v)")
    c.commit()
    v = 0.0
    for e in range(4):
        for b in range(20):
            v += b
        #ASK
        c.execute("insert into m values (?, ?)", ("e", e))
        c.commit()
"""
INSERT = 'c.execute("insert into m values (?, ?)", ("P", e)); c.commit()'


def _rows(path: Path) -> list[tuple[str, int]]:
    with sqlite3.connect(path) as connection:
        return connection.execute("select k, v from m").fetchall()


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_they_are_in_a_copy(workshop: Workshop, journal: str) -> None:
    script = SCRIPT.replace("    c.commit()\n    v", f'    c.execute("pragma journal_mode={journal}")\n    c.commit()\n    v', 1)
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    before = _rows(workshop.path / "m.db")
    workshop.write("train.py", script.replace("#ASK", INSERT))
    replayed = workshop.florc("replay", "train.py")
    assert _rows(workshop.path / "m.db") == before == [("e", e) for e in range(4)]
    assert "m.db.florc-replay" in replayed.said, replayed.said
    added = [row for row in _rows(workshop.path / "m.db.florc-replay") if row[0] == "P"]
    assert added == [("P", e) for e in range(4)]


def test_a_statement_that_only_selects_leaves_none(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.write("train.py", SCRIPT.replace("#ASK", 'print("P", c.execute("select count(*) from m").fetchone())'))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "".join(f"P ({e},)\n" for e in range(4)), replayed.said
    assert not list(workshop.path.glob("*.florc-replay"))
