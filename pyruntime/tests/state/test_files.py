"""Files that a state holds: those that are only read go on where they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from florc import state

TEXT = "".join(f"line {n}: \u00e4\u00f6\u00fc\r\n" for n in range(3000))
WAYS: dict[str, dict[str, Any]] = {
    "text": {"encoding": "utf-8"},
    "text as it is": {"encoding": "utf-8", "newline": ""},
    "wide text": {"encoding": "utf-16"},
    "bytes": {"mode": "rb"},
    "raw bytes": {"mode": "rb", "buffering": 0},
}


def _opened(folder: Path, way: str) -> Any:
    named = WAYS[way]
    (folder / "lines.txt").write_bytes(TEXT.encode(named.get("encoding", "utf-8")))
    return open(folder / "lines.txt", **named)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lines", [0, 1, 700])
def test_a_file_goes_on_where_it_was(way: str, lines: int, tmp_path: Path, freeze: Any) -> None:
    with _opened(tmp_path, way) as file, open(tmp_path / "lines.txt", **WAYS[way]) as other:
        for _ in range(lines):
            file.readline()
        file.read(3)
        kept = freeze({"box": {"file": file}})
        wanted = [file.readline(), file.read(5), file.readline()]
        for live in (file, other):
            live.read(11)
            kept.restore({"box": {"file": live}})
            assert [live.readline(), live.read(5), live.readline()] == wanted
        file.read()
        end = freeze({"file": file})
        file.seek(0)
        end.restore({"file": file})
        assert not file.read()


def test_only_the_same_file_is_moved(tmp_path: Path, freeze: Any) -> None:
    with _opened(tmp_path, "text") as file, open(tmp_path / "other.txt", "w+") as other:
        kept = freeze({"box": [file]})
        with open(other.name) as another:
            for live in (another, other, None):
                with pytest.raises(state.CannotRestore, match="not open here"):
                    kept.restore({"box": [live]})
    with pytest.raises(state.CannotRestore, match="not open here"):
        kept.restore({"box": [file]})


def test_a_file_that_cannot_tell_or_is_written_to_is_no_state_of_its_own(tmp_path: Path) -> None:
    with _opened(tmp_path, "text") as file, open(tmp_path / "other.txt", "w+") as other:
        next(file)
        for one in (file, other):
            with pytest.raises(state.Unsupported, match=r"an open file .* cannot be restored"):
                state.encode({"file": one})


def test_a_forked_child_leaves_it_to_its_parent(tmp_path: Path) -> None:
    with _opened(tmp_path, "bytes") as file, pytest.raises(state.NeedsCopy):
        state.encode({"file": file}, may_copy=False)
