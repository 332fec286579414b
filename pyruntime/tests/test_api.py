"""`import florc`: record, replay and tables from Python; the tables are those that DuckDB reads, too."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import florc
import pytest
from workshop import Workshop

SCRIPT = """
import time
import florc

class Model:
    total = 0
    def step(self, by):
        self.total += by
        time.sleep(0.001)

model, missing = Model(), None
for epoch in range(4):
    for step in range(5):
        model.step(step * epoch)
    #PROBE
    florc.log("loss", model.total / 8)
    print("word", "w" + str(epoch), missing)
"""
PROBE = 'print("half", model.total / 2, epoch > 1)'


@pytest.fixture
def here(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    workshop.write("train.py", SCRIPT)
    monkeypatch.chdir(workshop.path)
    monkeypatch.delenv("FLORC_DIR", raising=False)
    yield workshop.path


def _ask(folder: Path) -> None:
    folder.joinpath("train.py").write_text(SCRIPT.replace("#PROBE", PROBE))


def test_a_script_is_recorded_and_asked_from_python(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = florc.record("train.py", options=("--checkpoint", "every"))
    assert capfd.readouterr().out.startswith("loss 0.0\nword w0 None\n")
    assert florc.runs()["id"] == [run]
    _ask(here)
    answer = florc.replay("train.py")
    assert (answer.verdict, answer.names[-1]) == ("exact", "verdict") and "4 blocks restored" in answer.report
    assert answer["name"] == ["half", "epoch > 1"] * 4
    assert answer["text"] == ["0.0", "False", "5.0", "False", "15.0", "True", "30.0", "True"]
    assert answer["value"] == [0.0, 0.0, 5.0, 0.0, 15.0, 1.0, 30.0, 1.0]
    both = florc.logs("loss", "half", where="epoch > 1", pivot=True)
    assert list(both) == [{"epoch": 2, "loss": 3.75, "half": 15.0}, {"epoch": 3, "loss": 7.5, "half": 30.0}]
    assert florc.query("SELECT count(*) AS n FROM entries WHERE name = 'half'")["n"] == [4]


def test_what_cannot_be_answered_is_an_exception_with_a_sentence(here: Path) -> None:
    with pytest.raises(florc.Unusable, match="no recorded run"):
        florc.logs("train.py")
    with pytest.raises(florc.Unusable, match="F201"):
        florc.replay("train.py")
    run = florc.record("train.py")
    with pytest.raises(florc.Unusable, match="has no values of the name nothing; there are: epoch, loss"):
        florc.logs(run, "nothing")
    here.joinpath("train.py").write_text("raise SystemExit(3)")
    with pytest.raises(subprocess.CalledProcessError, match="returned non-zero exit status 3"):
        florc.record("train.py")


def test_duckdb_reads_a_table_as_it_is(here: Path) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    florc.record("train.py")
    shown = florc.logs()
    found = duckdb.sql("SELECT * FROM shown")
    types = {name: str(kind) for name, kind in zip(found.columns, found.types)}
    assert types == {
        **dict.fromkeys(("run", "file", "name", "text", "verdict"), "VARCHAR"),
        **dict.fromkeys(("rank", "line", "epoch", "occurrence"), "BIGINT"),
        "value": "DOUBLE",
    }
    assert [list(row) for row in found.fetchall()] == [list(row.values()) for row in shown]


@pytest.mark.parametrize("command", [["replay", "--format", "parquet", "-o", "out.parquet", "train.py"], ["logs"]])
def test_values_go_into_a_file_of_parquet(here: Path, workshop: Workshop, command: list[str]) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    florc.record("train.py", options=("--checkpoint", "every"))
    _ask(here)
    if command == ["logs"]:
        assert workshop.florc("replay", "--format", "none", "train.py").out == ""
        command = ["logs", "half", "--format", "parquet", "-o", "out.parquet"]
    done = workshop.florc(*command)
    assert (done.code, done.out) == (0, ""), done.said
    found = duckdb.sql(f"SELECT value, verdict FROM '{here}/out.parquet' WHERE name = 'half' ORDER BY epoch").fetchall()
    assert found == [(0.0, "exact"), (5.0, "exact"), (15.0, "exact"), (30.0, "exact")]


def test_where_values_cannot_be_written_nothing_runs(here: Path, workshop: Workshop) -> None:
    florc.record("train.py")
    for words, said in (
        (["--format", "parquet"], "[F101]"),
        (["--format", "csv", "-o", "missing/out.csv"], "cannot write missing/out.csv"),
    ):
        done = workshop.florc("replay", *words, "train.py")
        assert (done.code, done.out) == (2, "") and said in done.said and "replayed" not in done.said, done.said


def test_entries_of_json_have_names(here: Path, workshop: Workshop) -> None:
    florc.record("train.py")
    _ask(here)
    first, *_, end = map(json.loads, workshop.florc("replay", "--json", "train.py").out.splitlines())
    assert (first["context"], first["occurrence"], first["values"]) == ({"epoch": 0}, 0, {"half": 0.0, "epoch > 1": False})
    assert end["verdict"] == "exact"


def test_the_public_names_are_those_that_are_documented() -> None:
    assert sorted({*florc.__all__, "__version__"}) == sorted(dir(florc))
    stub = (Path(florc.__file__).parent / "__init__.pyi").read_text()
    for name in florc.__all__:
        assert callable(getattr(florc, name)) and f" as {name}\n" in stub


def test_ask_verify_show_and_diff_from_python(here: Path) -> None:
    with pytest.raises(florc.Unusable, match=r"cannot read nope\.py"):
        florc.record("nope.py")
    first, second = (florc.record("train.py", options=("--checkpoint", "every")) for _ in range(2))
    line = SCRIPT.splitlines().index("    #PROBE")
    asked = florc.ask(
        "train.py", at={line + 1: "-model.total"}, inside={line - 2: "(epoch, step)"}, options=("--iterations", "1")
    )
    assert asked.verdict == "exact" and asked["value"][-1] == -10.0, asked.report
    with pytest.raises(florc.Unusable, match="no statement is in this line"):
        florc.ask("train.py", at={99: "epoch"})
    verified = florc.verify(first)
    assert verified.verdict == "exact" and "florc" in verified.report
    assert florc.show(second)["checkpoints"] == 4
    assert florc.diff(first, second)["values"] is not None


def test_the_interface_is_functions(here: Path) -> None:
    """Whatever of the packages of the same names was imported."""
    import inspect

    import florc.record.command
    import florc.replay.command
    import florc.runs.catalog

    for name in ("ask", "diff", "log", "logs", "query", "record", "replay", "runs", "show", "verify"):
        found = getattr(florc, name)
        assert inspect.isfunction(found) and found.__doc__, name


def test_a_tensor_of_one_number_is_logged_as_a_number(workshop: Workshop) -> None:
    pytest.importorskip("torch")
    workshop.write("train.py", 'import florc, torch\nflorc.log("loss", torch.tensor(1 / 3))\nflorc.log("both", torch.ones(2))\n')
    assert workshop.plain("train.py").out == "loss 0.3333333432674408\nboth tensor([1., 1.])\n"
