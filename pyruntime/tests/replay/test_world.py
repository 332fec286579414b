"""Whatever a replayed script starts, no byte, mode, time or name of the user's changes (`replay/world/`)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import florc
import pytest

FLORC = os.path.join(os.path.dirname(sys.executable), "florc")
LIBRARIES = os.path.dirname(os.path.dirname(florc.__file__))
NOBODY = 65534

SCRIPT = """
    import os, subprocess, sys, time
    TOP
    if __name__ == "__main__":
        total = 0
        for epoch in range(3):
            for step in map(int, range(4)):
                time.sleep(0.004)
                total += step
            WRITE
            #ASK
            print("epoch", epoch, total, flush=True)
"""
CHILD = "subprocess.run([sys.executable, '-c', CODE.format(epoch=epoch)], check=True)"
POOL = 'import multiprocessing as mp; pool = mp.get_context("spawn").Pool(1); total += sum(pool.map(abs, range(2))); pool.terminate()'


def _code(text: str) -> tuple[str, str]:
    """A program of Python, run once an epoch."""
    return f"CODE = {text!r}", CHILD


WAYS = {
    "os.system": ("pass", 'os.system(f"echo {epoch} > o.txt")'),
    "a shell that appends": ("pass", 'subprocess.run(["sh", "-c", "echo more >> o.txt"], check=True)'),
    "an absolute path": ("pass", 'os.system(f"echo {epoch} > {os.getcwd()}/o.txt")'),
    "a child of Python": _code("open('o.txt', 'w').write('{epoch}')"),
    "rename": _code("import os; open('n.txt', 'w').close(); os.replace('n.txt', 'o.txt')"),
    "unlink": ("pass", 'os.system("rm -f gone.txt; rm -rf gone")'),
    "chmod": ("pass", 'os.system("chmod 600 o.txt; chmod 700 out")'),
    "utime": ("pass", 'os.system("touch -d 2001-01-01 o.txt out")'),
    "extended attributes": _code("import os; os.setxattr('o.txt', 'user.note', b'{epoch}')"),
    "mapped memory": _code("import mmap; f = open('o.txt', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[:1] = b'x'; m.flush()"),
    "truncate": _code("import os; os.truncate('o.txt', 1)"),
    "links": (
        "pass",
        'os.system(f"ln -f o.txt l{epoch}; ln -sf o.txt s; mkdir -p deep/er; mv o.txt deep/er; cp deep/er/o.txt o.txt")',
    ),
    "C": (
        "import ctypes; c = ctypes.CDLL(None); c.fopen.restype = ctypes.c_void_p",
        'f = ctypes.c_void_p(c.fopen(b"o.txt", b"w")); c.fputs(b"native", f); c.fclose(f)',
    ),
    "a pool, and a file at the top": ('log = open("o.txt", "w")', POOL),
    "a pool, and a file that is written later": (
        'log = open("o.txt", "w")',
        f"{POOL}; log.write(f'{{epoch}} {{total}} '); log.flush()",
    ),
    "a pool, and a folder at the top": (
        'import shutil; shutil.rmtree("out", ignore_errors=True); os.makedirs("out")',
        f'{POOL}; open(f"out/{{epoch}}.txt", "w").write(str(total))',
    ),
    "shared memory": ("pass", 'os.system(f"echo {epoch} > /dev/shm/NAME/o.txt; rm -f /dev/shm/NAME/gone.txt")'),
}
COMMANDS = {
    "replay": ("replay", "train.py"),
    "ask": ("ask", "--after-loop", "step", "total", "train.py"),
    "workers": ("replay", "--workers", "2", "train.py"),
    "verify": ("verify",),
}


class Place(NamedTuple):
    """A folder of some user's, and one in shared memory."""

    path: Path
    memory: Path
    user: int

    def florc(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        known = {name: value for name, value in os.environ.items() if not name.startswith(("FLORC", "_FLORC"))}
        known = {
            **known,
            "HOME": str(self.path.parent),
            "XDG_CONFIG_HOME": str(self.path.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }
        command = [FLORC, *words]
        if self.user != os.geteuid():
            known["PYTHONPATH"] = LIBRARIES
            command = [*_as(self.user), _python(self.user), "-m", "florc", *words]
        return subprocess.run(command, cwd=self.path, env=known, capture_output=True, text=True, timeout=120)

    def write(self, text: str) -> None:
        (self.path / "train.py").write_text(text)

    def fill(self) -> None:
        """What is there before a run."""
        for folder in (self.path, self.memory):
            for name in ("o.txt", "gone.txt"):
                (folder / name).write_text("before\n")
        for name in ("out", "gone"):
            (self.path / name).mkdir(exist_ok=True)
            (self.path / name / "kept.txt").write_text("kept\n")
        self.own()

    def own(self) -> None:
        for folder in (self.path, self.memory):
            for base, _, names in os.walk(folder):
                for name in (base, *(os.path.join(base, name) for name in names)):
                    os.chown(name, self.user, self.user, follow_symlinks=False)

    def look(self) -> dict[str, object]:
        """Every name, byte, mode, time and attribute but those of florc's store."""
        found: dict[str, object] = {}
        for folder in (self.path, self.memory):
            for base, folders, names in os.walk(folder):
                folders[:] = [name for name in folders if name not in (".florc", "__pycache__")]
                for name in (base, *(os.path.join(base, name) for name in names)):
                    at = os.lstat(name)
                    there = (
                        os.readlink(name) if os.path.islink(name) else Path(name).read_bytes() if os.path.isfile(name) else b""
                    )
                    attributes = [] if os.path.islink(name) else os.listxattr(name)
                    found[name] = at.st_mode, at.st_uid, at.st_ino, at.st_mtime_ns, there, attributes
        return found


def _as(user: int) -> list[str]:
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]


def _python(user: int) -> str:
    """An interpreter of this version that another user can start."""
    for path in (sys.executable, f"/usr/bin/python3.{sys.version_info[1]}"):
        code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import florc'], check=True)"
        asked = {**os.environ, "PYTHONPATH": LIBRARIES}
        if (
            shutil.which("setpriv")
            and subprocess.run([*_as(user), path, "-c", code], env=asked, capture_output=True).returncode == 0
        ):
            return path
    pytest.skip("no interpreter that a plain user can start")


@pytest.fixture(params=["root", "user"])
def place(request: pytest.FixtureRequest, tmp_path: Path):
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("only root")
    user = os.geteuid() if request.param == "root" or os.geteuid() else NOBODY
    base = Path(f"/tmp/florc-world-test-{os.getpid()}-{tmp_path.name[-20:]}")  # which other users reach, too
    memory = Path("/dev/shm") / base.name
    (base / "a, b:c").mkdir(parents=True)
    memory.mkdir()
    found = Place(base / "a, b:c", memory, user)
    os.chown(base, user, user)
    found.own()
    yield found
    shutil.rmtree(base)
    shutil.rmtree(memory)


def _script(way: str, place: Place, ask: str = "pass") -> str:
    top, write = WAYS[way]
    text = textwrap.dedent(SCRIPT).lstrip("\n").replace("TOP", top).replace("WRITE", write).replace("#ASK", ask)
    return text.replace("/dev/shm/NAME", str(place.memory))


def _asked(out: str) -> list[str]:
    return [line for line in out.splitlines() if not line.startswith("epoch")]


@pytest.mark.parametrize("way", WAYS)
def test_the_users_files_stay_as_they_are(way: str, place: Place) -> None:
    place.fill()
    place.write(_script(way, place))
    recorded = place.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.returncode == 0, recorded.stderr
    place.write(_script(way, place, 'print("Q", total)'))
    truth = [f"Q {n}" for n in totals(recorded.stdout)]
    place.fill()  # the user's edits since
    before = place.look()
    for name, words in COMMANDS.items():
        done = place.florc(*words)
        assert place.look() == before, (name, done.stderr)
        assert done.returncode == 0, (name, done.stdout, done.stderr)
        if name in ("replay", "workers"):
            assert done.stdout.splitlines() == truth, (name, done.stderr)
        assert "nothing keeps" not in done.stderr
    left = list((place.path / ".florc").rglob("world"))
    assert not left and str(place.path) not in Path("/proc/mounts").read_text()
    assert not list(Path("/tmp").glob("florc-world-[!t]*"))


def totals(out: str) -> list[str]:
    return [line.split()[2] for line in out.splitlines()]


def test_what_added_statements_write_is_handed_out(place: Place) -> None:
    """Under its own name where nothing is, else beside what is there."""
    place.fill()
    place.write(_script("os.system", place))
    place.florc("record", "--checkpoint", "every", "train.py")
    place.fill()
    before = place.look()
    added = (
        'os.system("cp o.txt copied.txt; cp o.txt out/kept.txt; echo x > gone.txt"); open("rescued.txt", "a").write(f"{epoch}\\n"); '
        'os.makedirs("figures", exist_ok=True); open("figures/one.txt", "w").write("1")'
    )
    place.write(_script("os.system", place, added))
    before["train"] = place.look()[str(place.path / "train.py")]
    done = place.florc("replay", "train.py")
    assert done.returncode == 0, done.stderr
    after = place.look()
    new = {os.path.relpath(name, place.path): after[name] for name in after.keys() - before.keys()}
    made = {name: value[4] for name, value in new.items() if not name.endswith("figures")}  # type: ignore[index]
    assert made == {
        "copied.txt": b"2\n",
        "rescued.txt": b"0\n1\n2\n",
        "out/kept.txt.florc-replay": b"2\n",
        "gone.txt.florc-replay": b"x\n",
        "figures/one.txt": b"1",
    }, done.stderr
    assert all(value[1] == place.user for value in new.values())  # type: ignore[index]
    assert (place.path / "o.txt").read_text() == (place.path / "gone.txt").read_text() == "before\n"


def test_a_replay_that_starts_again_sees_nothing_of_the_first_attempt(place: Place) -> None:
    text = """
        import os, itertools
        source = itertools.count()
        kept = enumerate(range(1000))
        total = 0
        open("n.txt", "w").close()
        os.system("echo start >> n.txt")
        for epoch in range(3):
            for step in range(20):
                total += next(source)
            #ASK
            print("epoch", epoch, total)
    """
    text = textwrap.dedent(text).lstrip("\n")
    place.write(text)
    place.own()
    place.florc("record", "--checkpoint", "every", "train.py")
    before = place.look()
    place.write(text.replace("#ASK", 'print("Q", total, next(kept))'))
    before[str(place.path / "train.py")] = place.look()[str(place.path / "train.py")]
    done = place.florc("replay", "train.py")
    assert place.look() == before, done.stderr
    place.write(text.replace("#ASK", 'print("Q", total, next(kept))'))
    assert not list((place.path / ".florc").rglob("world")), done.stderr


def test_the_switch_says_so(place: Place) -> None:
    place.fill()
    place.write(_script("os.system", place))
    place.florc("record", "--checkpoint", "every", "train.py")
    done = place.florc("replay", "--step-into", "all", "train.py", FLORC_WORLD="0")
    assert "nothing keeps what the script starts from writing over files: FLORC_WORLD is 0" in done.stderr
    assert done.returncode == 0


def test_shared_memory_and_workers_of_loaders(place: Place) -> None:
    pytest.importorskip("torch")
    if place.user != os.geteuid():
        pytest.skip("the other interpreter has no torch")
    text = """
        import torch
        from torch.utils.data import DataLoader
        if __name__ == "__main__":
            torch.manual_seed(0)
            total = 0.0
            for epoch in range(2):
                for batch in DataLoader(torch.arange(8.0), 4, num_workers=2):
                    total += batch.share_memory_().sum().item()
                #ASK
                print("epoch", epoch, total)
    """
    text = textwrap.dedent(text).lstrip("\n")
    place.write(text)
    place.own()
    recorded = place.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.returncode == 0, recorded.stderr
    place.write(text.replace("#ASK", 'print("Q", total)'))
    done = place.florc("replay", "--step-into", "all", "train.py")
    assert done.stdout.splitlines() == [f"Q {n}" for n in totals(recorded.stdout)], done.stderr
    assert "florc: exact" in done.stderr


def _asking(place: Place, write: str, added: str) -> subprocess.CompletedProcess[str]:
    """The replay with an added statement of a script that writes so."""
    place.fill()
    text = textwrap.dedent(SCRIPT).lstrip("\n").replace("TOP", "pass").replace("WRITE", write)
    place.write(text)
    assert place.florc("record", "--checkpoint", "every", "train.py").returncode == 0
    place.write(text.replace("#ASK", added))
    return place.florc("replay", "train.py")


ADDED = {
    "a copy": 'os.system("cp o.txt q.txt")',
    "a program of Python": 'subprocess.run([sys.executable, \'-c\', \'open("q.txt", "a").write("x")\'], check=True)',
    "in a folder of its own": 'os.makedirs("q.txt", exist_ok=True); os.system(f"cp o.txt q.txt/{epoch}")',
    "packed": 'subprocess.run(["tar", "cf", "q.txt", "out"], check=True)',
    "C, and an import": 'import ctypes; c = ctypes.CDLL(None); f = c.open(b"q.txt", 1089, 0o600); c.write(f, b"hi", 2); c.close(f)',
    "a symbolic link": 'os.path.lexists("q.txt") or os.symlink("o.txt", "q.txt")',
    "a link": 'os.path.lexists("q.txt") or os.link("o.txt", "q.txt")',
}


@pytest.mark.parametrize("how", ADDED)
def test_what_an_added_statement_alone_has_written_is_handed_out(how: str, place: Place) -> None:
    done = _asking(place, "pass", ADDED[how])
    assert done.returncode == 0 and os.path.lexists(place.path / "q.txt"), (done.stdout, done.stderr)
    assert (place.path / "o.txt").read_text() == "before\n"


WRITE_TMP = 'f = open("tmp", "w"); f.write(str(total)); f.close(); '
RENAMED = {
    "os.rename": f'{WRITE_TMP}os.rename("tmp", "q.txt")',
    "os.replace": f'{WRITE_TMP}os.replace("tmp", "q.txt")',
    "shutil": f'import shutil; {WRITE_TMP}shutil.move("tmp", "q.txt")',
    "pathlib": f'from pathlib import Path; {WRITE_TMP}Path("tmp").rename("q.txt")',
    "from another folder": 'import tempfile; f = tempfile.NamedTemporaryFile("w", delete=False); f.write(str(total)); f.close(); '
    'os.rename(f.name, "q.txt")',
    "to a folder": f'import shutil; {WRITE_TMP}os.makedirs("q", exist_ok=True); shutil.move("tmp", "q/q.txt"); '
    'os.path.lexists("q.txt") or os.symlink("q/q.txt", "q.txt")',
    "in a thread": "import threading; "
    't = threading.Thread(target=lambda: print(total, end="", file=open("q.txt", "w"))); t.start(); t.join()',
    "in a thread, renamed": 'import threading; write = lambda: (open("tmp", "w").write(str(total)), os.replace("tmp", "q.txt")); '
    "t = threading.Thread(target=write, daemon=True); t.start(); t.join()",
}


@pytest.mark.parametrize("write", ['open("o.txt", "w").write("")', 'open("tmp", "w").close(); os.replace("tmp", "o.txt")'])
@pytest.mark.parametrize("how", RENAMED)
def test_what_is_written_and_renamed_is_handed_out_under_its_own_name(how: str, write: str, place: Place) -> None:
    done = _asking(place, write, RENAMED[how])
    assert done.returncode == 0 and (place.path / "q.txt").read_text() == "18", (done.stdout, done.stderr)
    assert not list(place.path.glob("*.florc-replay")) and not (place.path / "tmp").exists(), done.stderr
    assert "F508" not in done.stderr and "florc: exact" in done.stderr, done.stderr


READ = {
    "a file": 'print("Q", open("made.txt").read())',
    "its size": 'print("Q", os.path.getsize("made.txt"))',
    "by a program": 'print("Q", subprocess.check_output(["cat", "o.txt"]))',
}


@pytest.mark.parametrize("how", READ)
def test_what_programs_wrote_is_told_where_an_added_statement_reads_it(how: str, place: Place) -> None:
    done = _asking(place, 'os.system("echo more >> made.txt"); open("o.txt", "w").write(str(total))', READ[how])
    assert len(_asked(done.stdout)) >= 3 and "exact: " not in done.stderr, (done.stdout, done.stderr)
    assert "by what florc did not hear" in done.stderr or "an added statement starts a program" in done.stderr, done.stderr
