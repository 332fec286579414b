"""`florc logs` and `florc query`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..project.script import Unusable
from ..runs import catalog, joint
from ..runs.run import Run, store_path
from ..support.console import answer
from . import asked, columns, memory, rows, table

if TYPE_CHECKING:
    from ..support import arguments as given


def logs(words: list[str], condition: str | None) -> list[rows.Row]:
    """The values of a run. `words`: the run or its script, where the first of them names one, and names of values. Raises
    Unusable."""
    run, names = _run_of(words)
    history = joint.seen(run)
    found = [*rows.recorded(history), *asked.kept(history)]
    known = sorted({row.name for row in found})
    measured = [*memory.measured(history)] if names else []  # nobody printed these: they are shown where they are named
    known += dict.fromkeys(row.name for row in measured)
    for name in names:
        if name not in known:
            raise Unusable("F104", f"{run.id} has no values of the name {name}; there are: {', '.join(known) or 'none'}")
    found = [row for row in (*found, *measured) if row.name in names or not names]
    if condition is not None:
        from .database import Database  # and sqlite3 with it: a replay, which prints values, does not import that into the script

        kept = set(Database([history], found).where(condition))
        found = [row for number, row in enumerate(found) if number in kept]
    return found


def of_runs(words: list[str], condition: str | None) -> list[rows.Row]:
    """The values of several runs: `words` begins with these. Raises Unusable."""
    store, count = store_path(), 0
    while count < len(words) and _names_a_run(store, words[count]):
        count += 1
    names = words[count:]
    if not names:
        raise Unusable("F101", "no value is named: florc plot [RUN] NAME; `florc logs` shows which there are")
    each = [[run, *names] for run in words[:count]] or [names]
    return [row for given in each for row in logs(given, condition)]


def _names_a_run(store: str, word: str) -> bool:
    if catalog.is_script(word) or catalog.is_place(word):
        return True
    try:
        catalog.named(store, word)
    except Unusable:
        return False
    return True


def query(sql: str) -> columns.Table:
    """The answer to a question about all runs of the store. Raises Unusable."""
    from .database import Database

    histories = [joint.seen(run) for run in catalog.all_runs(store_path())]
    found = [row for history in histories for row in (*rows.recorded(history), *asked.kept(history))]
    return columns.Table(*Database(histories, found).ask(sql))


def put_rows(found: list[rows.Row], form: str, output: str | None, is_pivoted: bool = False) -> None:
    """Values to standard output, or into a file. Raises Unusable."""
    if form == "parquet" and output is not None:
        _put_parquet(columns.of_rows(found, is_pivoted), output)
    elif form != "none":
        put(table.text(found, form, is_pivoted), output)


def put(text: str, output: str | None) -> None:
    """To standard output, or into a file. Raises Unusable."""
    if output is None:
        answer(text)
        return
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _cannot_write(output, error) from None


def _put_parquet(found: columns.Table, output: str) -> None:
    try:
        columns.write_parquet(found, output)
    except OSError as error:
        raise _cannot_write(output, error) from None


def _cannot_write(output: str, error: Exception) -> Unusable:
    why = (getattr(error, "strerror", None) or str(error)).lower()
    return Unusable("F206", f"cannot write {output}: {why}; give it a name in a folder that is there")


def _run_of(words: list[str]) -> tuple[Run, list[str]]:
    """The run, and the words that are left."""
    store = store_path()
    if not words:
        return catalog.find(store, None, None), []
    first = words[0]
    try:
        return catalog.named(store, first), words[1:]
    except Unusable as error:
        if catalog.is_script(first) or catalog.is_place(first) or error.code != "F201" or not catalog.all_runs(store):
            raise
        return catalog.find(store, None, None), words  # the name of a value


def run_logs(arguments: given.Logs) -> int:
    """`florc logs`."""
    form, output = _form(arguments), arguments["output"]
    columns.refuse(form, output)
    put_rows(logs(arguments["words"], arguments["condition"]), form, output, arguments["pivot"])
    return 0


def _form(arguments: given.Logs | given.Query) -> str:
    return "jsonl" if arguments["json"] else arguments["format"]


def run_query(arguments: given.Query) -> int:
    """`florc query`."""
    form, output = _form(arguments), arguments["output"]
    columns.refuse(form, output)
    found = query(arguments["sql"])
    if form == "parquet" and output is not None:
        _put_parquet(found, output)
    elif form != "none":
        put(table.written(found.names, found.rows(), form), output)
    return 0
