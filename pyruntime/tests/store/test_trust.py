"""A run folder is data until its owner says otherwise: what came from elsewhere runs nothing and writes nowhere."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import stat
from pathlib import Path

import pytest
from forging import Forged
from workshop import Done, Workshop

SCRIPT = """
    import random, time
    class Net:
        def __init__(self):
            self.weights, self.note = [0.0, 0.0], None
    net = Net()
    for epoch in range(4):
        for step in map(int, range(2)):
            time.sleep(0.005)
            net.weights[step] += random.random()
            net.note = (len, repr)[step]
        #PROBE
        print(epoch, net.weights)
    """
PROBE = 'print("PROBE", epoch, net.weights)'


@pytest.fixture
def recorded(workshop: Workshop) -> Workshop:
    """A project with one run, and a statement added since."""
    workshop.write("train.py", SCRIPT)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    workshop.write("train.py", SCRIPT.replace("#PROBE", PROBE))
    return workshop


@pytest.fixture
def elsewhere(recorded: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """The same project with its store, in the hands of another user."""
    config = str(tmp_path_factory.mktemp("config"))
    recorded.environment = lambda: {**Workshop.environment(recorded), "XDG_CONFIG_HOME": config}  # type: ignore[method-assign]
    return recorded


def run_of(shop: Workshop) -> Path:
    [run] = (shop.path / ".florc" / "runs").iterdir()
    return run


def refuses(done: Done, *words: str) -> None:
    assert (done.code, done.out) == (2, "") and "Traceback" not in done.err, done
    assert len(done.said.splitlines()) == 1 and all(word in done.said for word in words), done.said


@pytest.mark.parametrize("has_key", [False, True])
def test_what_another_recorded_is_read_and_not_run(elsewhere: Workshop, has_key: bool) -> None:
    if has_key:
        key = Path(elsewhere.environment()["XDG_CONFIG_HOME"]) / "florc" / "key"
        key.parent.mkdir(mode=0o700)
        key.write_text("5e" * 32)
        key.chmod(0o600)
    for command in (
        ["replay", "train.py"],
        ["verify"],
        ["replay", "--dry-run", "train.py"],
        ["replay", "--workers", "2", "train.py"],
        ["replay", "--shard", "1/2", "train.py"],
    ):
        refuses(elsewhere.florc(*command), "not known to be yours", "--trust")
    assert elsewhere.florc("runs").code == 0
    checked = elsewhere.florc("check")
    assert checked.code == 0 and "not known to be yours" in checked.out
    trusted = elsewhere.florc("replay", "--trust", "train.py")
    assert trusted.code == 0 and trusted.out.count("PROBE") == 4 and "exact" in trusted.said, trusted
    assert f"+    {PROBE}" in trusted.said and "train.py (recorded)" in trusted.said, "what would run is shown"
    assert elsewhere.florc("verify", "--trust").code == 0
    parallel = elsewhere.florc("replay", "--trust", "--workers", "2", "train.py")
    assert parallel.out == trusted.out and parallel.said.count("train.py (recorded)") == 1, parallel


@pytest.mark.parametrize("kind, field", [("lines", "path"), ("file", "at"), ("checkpoint", "key"), ("iteration", "path")])
def test_a_place_that_is_none_is_told(elsewhere: Workshop, kind: str, field: str) -> None:
    forged = Forged(run_of(elsewhere))
    forged.records.append(("file", {"path": str(elsewhere.path / "a.txt"), "was": "none", "at": ""}))

    def spoil(payload: dict) -> dict:
        if kind == "lines":
            return {"lines": [["L1=x", *rest] for _, *rest in payload["lines"]]}
        return {**payload, field: "L1=x@"}

    forged.each(kind, spoil)
    assert any(name == kind for name, _ in forged.records), f"no record is a {kind}"
    forged.write()
    for command in (["replay", "--trust", "train.py"], ["replay", "--trust", "--dry-run", "train.py"]):
        refuses(elsewhere.florc(*command), f"({kind})", "L1=x", "is no place in the loop nest")


def test_a_record_is_sealed_with_a_key_outside_the_store(recorded: Workshop) -> None:
    key = Path(recorded.environment()["XDG_CONFIG_HOME"]) / "florc" / "key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600 and key.stat().st_uid == os.getuid()
    secret = key.read_bytes().strip()
    for file in (recorded.path / ".florc").rglob("*"):
        data = file.read_bytes() if file.is_file() else b""
        assert secret not in data and bytes.fromhex(secret.decode()) not in data
    assert recorded.florc("replay", "train.py").code == 0
    assert recorded.florc("replay", "--workers", "2", "train.py").code == 0


def test_a_key_that_others_could_have_is_not_used(workshop: Workshop, tmp_path: Path) -> None:
    config = tmp_path / "config"
    base = {**workshop.environment(), "XDG_CONFIG_HOME": str(config)}
    workshop.environment = lambda: base  # type: ignore[method-assign]
    workshop.write("train.py", SCRIPT)
    key = config / "florc" / "key"
    for spoil, why in (
        (lambda: key.chmod(0o644), "can be read by others"),
        (lambda: key.write_text("short"), "is damaged"),
        (lambda: (key.rename(config / "other"), key.symlink_to(config / "other")), ""),
    ):
        shutil.rmtree(config, ignore_errors=True)
        assert "--trust" not in workshop.florc("record", "train.py").said
        assert [path.name for path in key.parent.iterdir()] == ["key"]
        spoil()
        done = workshop.florc("record", "train.py")
        assert done.code == 0 and "--trust" in done.said and why in done.said, done
        refuses(workshop.florc("replay", "train.py"), "there is no key here")


@pytest.mark.parametrize("config", ["/proc/1/nowhere", "relative"], ids=["unwritable", "no home"])
def test_without_a_key_recording_goes_on(workshop: Workshop, config: str) -> None:
    workshop.write("train.py", SCRIPT)
    plain = workshop.plain("train.py").out.count("\n")
    workshop.environment = lambda: {
        **Workshop.environment(workshop),
        "XDG_CONFIG_HOME": config,  # type: ignore[method-assign]
        "HOME": "/proc/1/nowhere",
    }
    done = workshop.florc("record", "--overhead", "0.9", "train.py")
    assert done.code == 0 and done.out.count("\n") == plain and done.said.count("--trust") == 1, done
    refuses(workshop.florc("replay", "train.py"), "there is no key here")
    assert workshop.florc("replay", "--trust", "train.py").code == 0


def test_a_killed_run_is_its_owners(workshop: Workshop) -> None:
    script = SCRIPT.replace("print(epoch, net.weights)", "print(epoch, net.weights, flush=True)")
    workshop.write("train.py", script)
    assert workshop.florc("record", "--overhead", "0.9", "train.py", kill_after="2 [").code == -9
    workshop.write("train.py", script.replace("#PROBE", PROBE))
    done = workshop.florc("replay", "train.py")
    assert done.code == 0 and done.out.count("PROBE") >= 1 and "exact" in done.said, done


def test_journals_of_version_1_are_read_and_foreign(recorded: Workshop) -> None:
    Forged(run_of(recorded)).write(version=1)
    for file in ("run.json",):
        info = json.loads((run_of(recorded) / file).read_text())
        (run_of(recorded) / file).write_text(json.dumps({**info, "format": 1}))
    refuses(recorded.florc("replay", "train.py"), "an earlier version of florc", "--trust")
    done = recorded.florc("replay", "--trust", "train.py")
    assert done.code == 0 and done.out.count("PROBE") == 4 and "exact" in done.said, done


# -- what a store from elsewhere may try -------------------------------------------------------------------------------


class Attack:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path):
        self.target = target

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return os.system, (f"touch {self.target}",)


def with_pickle(forged: Forged, hit: Path) -> None:
    """A node that nobody refers to."""

    def change(graph: dict, leaves: list) -> None:
        leaves.append(pickle.dumps(Attack(hit)))
        graph["leaves"].append(len(leaves[-1]))
        graph["nodes"].append(["pickle", len(leaves) - 1, "builtins", "list"])

    forged.graphs(change)


def with_system(forged: Forged, hit: Path) -> None:
    """What the script calls becomes a command."""

    def change(graph: dict, leaves: list) -> None:
        for node in graph["nodes"]:
            if node[0] == "named":
                node[1:] = ["os", "system"]

    forged.graphs(change)


def with_source(forged: Forged, hit: Path) -> None:
    """Another text of the script than the one that ran."""
    forged.source(f"import os; os.system('touch {hit}')\n")


def with_script(forged: Forged, hit: Path) -> None:
    """A script that lies elsewhere."""
    there = hit.with_name("elsewhere.py")
    there.write_text(f"import os; os.system('touch {hit}')\n")
    forged.head(script=str(there), argv=[str(there)])
    forged.each("source", lambda payload: {**payload, "file": str(there)})


def with_kept(forged: Forged, hit: Path) -> None:
    """A file of the user's that is to be put back."""
    kept = forged.run.parent.parent / "kept"
    kept.mkdir(exist_ok=True)
    for sealed in (b"", bytes(32)):
        (kept / f"x{len(sealed)}").write_text("attack")
        (kept / f"x{len(sealed)}.path").write_bytes(sealed + os.fsencode(hit))


def with_class(forged: Forged, hit: Path) -> None:
    """An object of a class that only florc imports."""

    def change(graph: dict, leaves: list) -> None:
        for node in graph["nodes"]:
            if node[0] == "named":
                node[:] = ["object", "difflib", "SequenceMatcher", ["a", "forged"], None]

    forged.graphs(change)


ATTACKS = [with_pickle, with_system, with_source, with_script, with_kept]
WATCH = """
import os, sys
def hear(event, args):
    if event == "exec":  # named tuples and dataclasses of the library are made of text, too
        frame = sys._getframe(1)
        if args[0].co_filename.startswith(("<frozen", sys.base_prefix, sys.prefix)) or frame.f_code.co_filename.startswith(
                ("<frozen", sys.base_prefix)):
            return
    if event in ("exec", "pickle.find_class", "subprocess.Popen", "os.system"):
        with open(os.environ["HEARD"], "a") as file:
            print(event, args, file=file)
sys.addaudithook(hear)
"""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_a_store_from_elsewhere_runs_nothing(elsewhere: Workshop, attack, tmp_path_factory: pytest.TempPathFactory) -> None:
    aside = tmp_path_factory.mktemp("aside")
    (aside / "sitecustomize.py").write_text(WATCH)
    forged = Forged(run_of(elsewhere))
    attack(forged, aside / "hit")
    forged.write()
    base = {**elsewhere.environment(), "PYTHONPATH": str(aside), "HEARD": str(aside / "heard"), "PYTHONHASHSEED": "0"}
    elsewhere.environment = lambda: base  # type: ignore[method-assign]
    for command in (
        ["replay", "train.py"],
        ["replay", run_of(elsewhere).name],
        ["verify"],
        ["check", "--read-data"],
        ["runs"],
        ["replay", "--dry-run", "train.py"],
        ["replay", "--workers", "2", "train.py"],
    ):
        done = elsewhere.florc(*command)
        assert "Traceback" not in done.err, done
        assert done.code in (0, 1) if command[0] in ("runs", "check") else done.code == 2, done
    assert not (aside / "hit").exists() and not (aside / "heard").exists(), (aside / "heard").read_text()


@pytest.mark.parametrize(
    "attack", [with_pickle, with_system, with_class, with_script, with_kept], ids=lambda attack: attack.__name__
)
def test_trust_does_not_reach_beyond_the_project(elsewhere: Workshop, attack, tmp_path_factory: pytest.TempPathFactory) -> None:
    hit = tmp_path_factory.mktemp("aside") / "hit"
    forged = Forged(run_of(elsewhere))
    attack(forged, hit)
    forged.write()
    text = (elsewhere.path / "train.py").read_text()
    (elsewhere.path / "train.py").write_text(text.replace('print("PROBE"', f"net.note('touch {hit}'); print(\"PROBE\""))
    done = elsewhere.florc(
        "replay",
        "--trust",
        "--allow-drift",
        *([] if attack is with_script else [run_of(elsewhere).name]),
        run_of(elsewhere).name if attack is with_script else "train.py",
    )
    assert not hit.exists() and "Traceback" not in done.err, done
    if attack is with_class:
        assert "difflib is not something that the script imports" in done.said, done
    if attack is with_script:
        refuses(done, "not in the project of its store")
    elif attack is with_kept:
        assert "files of yours" in done.said and "kept: each NAME.path" in done.said, done.said


def test_what_a_stranger_kept_does_not_stand_for_the_users_file(
    workshop: Workshop, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The file is copied all the same, and put back."""
    script = SCRIPT + "    open('log.txt', 'w').write(str(time.time()))\n"
    workshop.write("train.py", script)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    text = workshop.write("train.py", script.replace("#PROBE", PROBE)).read_text()
    kept, file = workshop.path / ".florc" / "kept", workshop.path / "log.txt"
    kept.mkdir(exist_ok=True)
    before = file.read_text()
    name = hashlib.sha256(os.fsencode(file)).hexdigest()[:32]
    (kept / name).symlink_to(workshop.path / "train.py")
    (kept / f"{name}.path").write_bytes(bytes(32) + os.fsencode(file))
    base = {**workshop.environment(), "XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("config"))}
    workshop.environment = lambda: base  # type: ignore[method-assign]
    workshop.write("other.py", "")
    assert workshop.florc("record", "other.py").code == 0, "now there is a key"
    done = workshop.florc("replay", "--trust", "train.py")
    assert done.out.count("PROBE") == 4 and file.read_text() == before and not file.is_symlink(), done
    assert (workshop.path / "train.py").read_text() == text


def test_nothing_is_followed_through_links(recorded: Workshop, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    for name in ("replays", "source"):
        folder = run_of(recorded) / name
        if folder.exists():
            shutil.move(str(folder), outside / name)
        else:
            (outside / name).mkdir()
        folder.symlink_to(outside / name)
        refuses(recorded.florc("replay", "train.py"), f"{name} is a link")
        folder.unlink()
        shutil.move(str(outside / name), folder)
    assert recorded.florc("replay", "train.py").code == 0


@pytest.mark.parametrize("umask", [0o000, 0o277], ids=oct)
def test_files_are_for_their_owner_alone(workshop: Workshop, umask: int) -> None:
    workshop.write("train.py", SCRIPT)
    before = os.umask(umask)
    try:
        assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
        assert workshop.florc("replay", "--step-into", "all", "train.py").code == 0
    finally:
        os.umask(before)
    store = workshop.path / ".florc"
    for path in [store, *store.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert not mode & 0o077 and (umask or mode == (0o700 if path.is_dir() else 0o600)), path


def test_nothing_in_a_store_steers_the_terminal(workshop: Workshop) -> None:
    red = "\x1b[31mred\x07\x9b1m\u202e"
    workshop.write("train.py", SCRIPT)
    assert workshop.florc("record", "--overhead", "0.9", "train.py", red, "a\nflorc: exact: forged").code == 0
    forged = Forged(run_of(workshop))
    forged.each("line", lambda payload: {**payload, "text": red, "file": payload["file"]})
    forged.head(module=None, cwd=str(workshop.path / red))
    forged.write()
    own = "\x1b[32mgreen\x1b[0m"
    workshop.write("train.py", SCRIPT.replace("#PROBE", f"print({own!r})"))
    for command in (
        ["runs"],
        ["runs", "--json"],
        ["runs", "--disk"],
        ["check"],
        ["replay", "train.py"],
        ["replay", "--trust", "train.py"],
        ["replay", "--trust", "--step-into", "all", "train.py"],
        ["replay", "--dry-run", "--trust", "train.py"],
    ):
        done = workshop.florc(*command)
        shown = (done.out if command[0] != "replay" else done.out.replace(own, "")) + done.err + done.said
        assert not any(char < " " and char not in "\n\t" or "\x7f" <= char < "\xa0" or char == "\u202e" for char in shown), done
        assert "\nflorc: exact: forged" not in shown
    asked = workshop.florc("replay", "--trust", "--step-into", "all", "train.py")
    assert asked.out.count(own) == 4, "what an added statement prints is the user's own"
