"""What the native half makes of a command line, by command. Only types: nothing imports this while florc runs."""

from typing import TypedDict


class Record(TypedDict):
    """Of `florc record`. `overhead`: a share of the run's time; `max_staging`: MiB; `max_disk`: bytes."""

    command: str
    module: str | None
    name: str | None
    overhead: float
    checkpoint: str
    engine: str
    max_staging: int | None
    max_disk: int | None
    quiet: bool
    script: list[str]


class Selection(TypedDict):
    """What of a run is to be replayed."""

    iterations: str | None
    steps: str | None
    around: str | None
    window: int
    last: bool


class Replay(Selection):
    """Of `florc replay`. `shard`: which part, of how many."""

    command: str
    target: list[str]
    dry_run: bool
    allow_drift: bool
    strict: bool
    step_into: list[str]
    workers: int | None
    ray: str | None
    shard: tuple[int, int] | None
    emit: str | None
    rank: int | None
    interactive: bool
    trust: bool
    json: bool
    format: str | None
    output: str | None
    to: tuple[str, str | None] | None
    quiet: bool
    color: str


class Ask(Replay):
    """Of `florc ask`. `at`, `inside`, `after_loop`: a place and an expression in turn."""

    at: list[str]
    inside: list[str]
    after_loop: list[str]
    watch: list[str]


class Verify(TypedDict):
    """Of `florc verify`."""

    command: str
    run: str | None
    samples: int
    trust: bool
    json: bool
    quiet: bool
    color: str


class Runs(TypedDict):
    """Of `florc runs`."""

    command: str
    script: str | None
    columns: list[str]
    sort: str | None
    last: int | None
    disk: bool
    json: bool
    color: str


class Diff(TypedDict):
    """Of `florc diff`."""

    command: str
    runs: list[str]
    names: list[str]
    json: bool
    color: str


class Logs(TypedDict):
    """Of `florc logs`."""

    command: str
    words: list[str]
    condition: str | None
    pivot: bool
    format: str
    json: bool
    output: str | None
    color: str


class Show(TypedDict):
    """Of `florc show`."""

    command: str
    run: str | None
    json: bool
    source: bool
    color: str


class Plot(TypedDict):
    """Of `florc plot`."""

    command: str
    words: list[str]
    x: str | None
    condition: str | None
    output: str | None
    color: str


class Query(TypedDict):
    """Of `florc query`."""

    command: str
    sql: str
    format: str
    json: bool
    output: str | None
    color: str


class Ui(TypedDict):
    """Of `florc ui`. `port`: 0 where any free one will do."""

    command: str
    run: str | None
    port: int
    open: bool


class Check(TypedDict):
    """Of `florc check`."""

    command: str
    run: str | None
    read_data: bool
    json: bool
    color: str


class Rm(TypedDict):
    """Of `florc rm`."""

    command: str
    runs: list[str]


class Gc(TypedDict):
    """Of `florc gc`."""

    command: str
    quiet: bool
