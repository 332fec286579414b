"""A replay answers what a plain run of the edited script prints in a copy of the folder as the recorded run found it, and leaves
every file of the folder as it is: also after a newer training, and whatever the script does with its files."""

from __future__ import annotations

import os
import re
import shutil
import textwrap
from pathlib import Path
from typing import Any

import pytest
from viewed import tree
from workshop import Workshop

LOOP = """
    for epoch in range(start, start + 3):
        total = 0.0
        for step in range(4):
            time.sleep(0.005)
            total += step * (epoch % 4)
"""

SCRIPTS = {
    "a checkpoint of its own": """
        import json, os, time
        start = json.load(open("last.json"))["epoch"] + 1 if os.path.exists("last.json") else 0
        print("start", start)
        LOOP
            with open("last.json", "w") as file:
                json.dump({"epoch": epoch, "total": total}, file)
            if total > 1:
                with open("best.tmp", "w") as file:
                    file.write(str(total))
                os.replace("best.tmp", "best.txt")
            # ADDED: print("PROBE", epoch, open("best.txt").read(), sorted(os.listdir(".")))
        # END: print("PROBE", json.load(open("last.json")), open("best.txt").read())
        """,
    "folders with numbers": """
        import glob, os, time
        from pathlib import Path
        start = len(glob.glob("runs/exp*"))
        folder = next(p for n in range(1, 99) if not (p := Path(f"runs/exp{n}")).exists())
        (folder / "weights").mkdir(parents=True)
        print(folder, start)
        LOOP
            (folder / "weights" / f"{epoch}.pt").write_text(str(total))
            # ADDED: print("PROBE", folder, sorted(glob.glob("runs/**", recursive=True)), sorted(os.scandir("runs"), key=str)[0].name)
        # END: print("PROBE", sorted(str(p) for p in folder.rglob("*")), len(list(Path("runs").iterdir())))
        """,
    "logs": """
        import csv, gzip, os, time
        start = sum(1 for _ in open("log.txt"))
        log = open("log.txt", "a")
        with open("count.txt", "r+") as file:
            count = int(file.read()) + 1
            file.seek(0); file.write(str(count))
        print(start, count)
        LOOP
            print(epoch, total, file=log, flush=True)
            with open("t.csv", "a", newline="") as file:
                csv.writer(file).writerow([epoch, total])
            with gzip.open("t.gz", "at") as file:
                file.write(str(total))
            # ADDED: print("PROBE", os.path.getsize("log.txt"), list(csv.reader(open("t.csv"))), gzip.open("t.gz", "rt").read())
        log.close()
        # END: print("PROBE", [open("log.txt").read(), open("count.txt").read()])
        """,
    "what is removed": """
        import os, shutil, time
        start = len(os.listdir("out"))
        shutil.rmtree("out")
        os.makedirs("out")
        os.rename("log.txt", "log.1.txt")
        os.remove("count.txt")
        os.rmdir("empty") if os.path.exists("empty") else None
        if os.path.lexists("latest"): os.unlink("latest")
        os.symlink("out", "latest")
        print(start)
        LOOP
            with open(f"latest/{epoch}.txt", "w") as file: file.write(str(total))
            if os.path.exists(f"out/{epoch - 1}.txt"): os.remove(f"out/{epoch - 1}.txt")
            with open("log.txt", "a") as file: file.write("x")
            # ADDED: print("PROBE", os.listdir("out"), open("log.1.txt").read(), os.readlink("latest"), os.path.exists("count.txt"))
        with open("count.txt", "w") as file: file.write("9")
        shutil.rmtree("moved", ignore_errors=True); os.rename("tree", "moved"); os.makedirs("tree/deep"); open("tree/deep/x", "w").write("x")
        os.makedirs("empty", exist_ok=True)
        # END: print("PROBE", sorted(os.listdir("moved")), open("moved/deep/x").read(), os.listdir("tree"), os.path.isdir("empty"))
        """,
    "databases and archives": """
        import os, shelve, sqlite3, tempfile, time, zipfile
        db = sqlite3.connect("runs.db"); db.execute("create table if not exists t (a)")
        start = db.execute("select count(*) from t").fetchone()[0]
        print("start", start)
        LOOP
            db.execute("insert into t values (?)", (total,)); db.commit()
            with shelve.open("shelf") as shelf: shelf[str(epoch)] = total
            with zipfile.ZipFile("all.zip", "a") as file: file.writestr(f"{start}{epoch}", str(total))
            with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as file: file.write(str(total))
            os.replace(file.name, "safe.txt")
            with tempfile.TemporaryDirectory() as folder: open(os.path.join(folder, "a"), "w").write("1")
            # ADDED: print("PROBE", db.execute("select a from t").fetchall(), sorted(zipfile.ZipFile("all.zip").namelist()), open("safe.txt").read())
        db.close()
        # END: print("PROBE", sorted(shelve.open("shelf").items()), sorted(n for n in os.listdir(".") if not n.startswith("shelf")))
        """,
    "numpy": """
        import numpy as np, os, time
        seen = np.load("seen.npy") if os.path.exists("seen.npy") else np.zeros(0)
        start = len(seen)
        memory = np.memmap("memory.bin", dtype=float, mode="r+" if os.path.exists("memory.bin") else "w+", shape=4)
        print(start, memory.sum())
        LOOP
            seen = np.append(seen, total); np.save("seen.npy", seen); memory[epoch % 4] += total; memory.flush()
            seen.tofile("raw.bin"); np.savez("both.npz", a=seen, b=memory); np.savetxt("t.txt", seen)
            # ADDED: print("PROBE", np.load("seen.npy"), np.fromfile("memory.bin"), np.load("both.npz")["b"], np.fromfile("raw.bin"), np.loadtxt("t.txt"))
        # END: print("PROBE", memory)
        """,
    "torch": """
        import os, time, torch
        from torch.utils.data import DataLoader, Dataset
        torch.manual_seed(0)
        net = torch.nn.Linear(2, 2); optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        start = 0
        if os.path.exists("last.pt"):
            state = torch.load("last.pt"); net.load_state_dict(state["net"]); start = state["epoch"] + 1
        class Files(Dataset):
            def __len__(self): return 4
            def __getitem__(self, n): return torch.full((2,), float(open(f"data{n}").read()))
        for n in range(4):
            open(f"data{n}", "w").write(str(start + n))
        print(start)
        for epoch in range(start, start + 3):
            for batch in DataLoader(Files(), batch_size=2, num_workers=2 * (epoch % 2)):
                optimizer.zero_grad(); net(batch).sum().backward(); optimizer.step(); time.sleep(0.01)
            torch.save({"net": net.state_dict(), "epoch": epoch}, "last.pt")
            torch.save(net.state_dict(), "best.pt.tmp"); os.replace("best.pt.tmp", "best.pt")
            # ADDED: print("PROBE", epoch, net.weight.sum().item(), torch.load("last.pt")["epoch"])
        # END: print("PROBE", torch.load("best.pt")["weight"], sorted(os.listdir(".")))
        """,
}


def text_of(name: str) -> str:
    return textwrap.dedent(SCRIPTS[name]).replace("LOOP", textwrap.dedent(LOOP).strip())


def found(folder: Path) -> Path:
    """What a script finds."""
    (folder / "out").mkdir(parents=True)
    (folder / "tree/deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "runs/exp1").mkdir(parents=True)
    for name, text in (
        ("log.txt", "old log\n"),
        ("count.txt", "7"),
        ("out/a", "a"),
        ("out/b", "b"),
        ("tree/deep/x", "deep"),
        ("best.txt", "0"),
        ("last.json", '{"epoch": 4, "total": 1}'),
    ):
        (folder / name).write_text(text)
    (folder / ".florc").mkdir()
    (folder / "latest").symlink_to("nowhere")
    return folder


def lasting(folder: Path) -> dict[str, Any]:
    """Without times: two runs have their own; and without what is no file of theirs."""
    return {
        name: (state[0], *state[2:])
        for name, state in tree(folder).items()
        if not name.startswith("shelf") and not name.endswith(".gz") and name != "train.py"
    }


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_replay_sees_the_folder_as_the_run_found_it(tmp_path: Path, name: str, again: bool) -> None:
    for library in ("numpy", "torch"):
        if name == library:
            pytest.importorskip(library)
    text = text_of(name)
    edited = text.replace("# ADDED: ", "").replace("# END: ", "")
    folders = {which: Workshop(found(tmp_path / which)) for which in ("user", "plain", "edited")}
    user = folders["user"]
    if again:  # it was trained before, too
        for workshop in folders.values():
            workshop.write("train.py", text)
            assert workshop.plain("train.py").code == 0
    folders["plain"].write("train.py", text)
    assert folders["plain"].plain("train.py").code == 0
    folders["edited"].write("train.py", edited)
    wanted = [line for line in folders["edited"].plain("train.py").out.splitlines() if not line[0].isdigit()]
    wanted = wanted[next(n for n, line in enumerate(wanted) if line.startswith("PROBE")) :]
    assert len(wanted) >= 4, wanted

    user.write("train.py", text)
    done = user.florc("record", "--checkpoint", "every", "train.py")
    assert done.code == 0 and "lost" not in done.said, done
    if name not in ("databases and archives", "numpy", "torch"):  # archives hold times
        assert lasting(user.path) == lasting(folders["plain"].path)
    for options in ((), ("--step-into", "all")):
        user.write("train.py", edited)
        before = tree(user.path)
        done = user.florc("replay", *options, "train.py")
        assert (done.out.splitlines(), done.code) == (wanted, 0), done
        # Where a busy machine cost the checkpoint of a block that writes them, only some of its iterations may run again.
        assert "unverified" not in done.said or "no checkpoint was kept of it here" in done.said, done
        assert tree(user.path) == before
        user.write("train.py", text)
        assert user.plain("train.py").code == 0  # a newer training


def test_iterations_that_are_left_out_have_written_their_files(workshop: Workshop) -> None:
    """What the run wrote in iterations that a replay skips is there; where something else is there now, they run."""
    script = """
        import os, time
        for epoch in range(6):
            for step in range(4):
                time.sleep(0.01)
                total = step * epoch
                with open(f"step{step}.txt", "w") as file:
                    file.write(str(total))
            # ADDED
        print(open("step3.txt").read())
        """
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", script.replace("# ADDED", "print('PROBE', epoch, os.path.exists('step3.txt'))"))
    before = tree(workshop.path)
    done = workshop.florc("replay", "train.py")
    assert done.out == "".join(f"PROBE {epoch} True\n" for epoch in range(6)), done
    assert done.code == 0 and "florc: exact" in done.said, done
    done = workshop.florc("replay", "--iterations", "4:5", "train.py")
    assert (done.out, done.code) == ("PROBE 4 True\n", 0), done
    assert tree(workshop.path) == before
    workshop.write("step3.txt", "16")
    done = workshop.florc("replay", "train.py")
    assert done.out == "".join(f"PROBE {epoch} True\n" for epoch in range(6)) and "florc: exact" in done.said, done
    assert "the script reads step3.txt, which was written there and holds something else now" in done.said, done


def test_content_that_was_not_kept_is_not_vouched_for(workshop: Workshop) -> None:
    script = """
        import os, time
        text = open("big.bin", "rb").read(1)
        for epoch in range(3):
            time.sleep(0.01)
            print(epoch)
        with open("big.bin", "wb") as file:
            file.write(b"new")
        # ADDED
        """
    (workshop.path / "big.bin").write_bytes(bytes(300 << 20))
    workshop.write("train.py", script)
    assert workshop.florc("record", "train.py").code == 0
    kept = list(workshop.path.glob(".florc/runs/*/files/*"))
    workshop.write("train.py", script.replace("# ADDED", "print('PROBE')"))
    done = workshop.florc("replay", "train.py")
    shares_blocks = bool(kept)
    assert shares_blocks or "big.bin was read, but the record does not hold its content before the run" in done.said, done
    assert (workshop.path / "big.bin").read_bytes() == b"new"


def with_modules_of(workshop: Workshop) -> None:
    """Have Python find the modules of the workshop's folder, `sitecustomize` before all."""
    known = workshop.environment()
    environment = {**known, "PYTHONPATH": os.pathsep.join(filter(None, [str(workshop.path), known.get("PYTHONPATH")]))}
    workshop.environment = lambda: environment  # type: ignore[method-assign]


def test_a_run_without_notes_hides_nothing(workshop: Workshop) -> None:
    """Recorded by a version that did not look at files."""
    workshop.write("train.py", text_of("a checkpoint of its own"))
    hook = workshop.write("sitecustomize.py", "from florc import _native; _native.listen = lambda events, hear: None\n")
    with_modules_of(workshop)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    hook.write_text("")
    workshop.write("train.py", text_of("a checkpoint of its own").replace("# END: ", "").replace("# ADDED: ", "# "))
    before = tree(workshop.path)
    done = workshop.florc("replay", "train.py")
    assert done.code == 1 and "printed 'start 3" in done.said, done
    assert {**tree(workshop.path), "sitecustomize.py": 0} == {**before, "sitecustomize.py": 0}


HOLDERS = """
import builtins, functools, io, logging, os
class Slotted:
    __slots__ = ("open", "nothing")
class Held:
    opens = open
    static = staticmethod(open)
    def __init__(self): self.open = open
class Entry(dict): pass
def default(path, mode, opens=open): return opens(path, mode)
def keyword(path, mode, *, opens=open): return opens(path, mode)
def closure(opens):
    def call(path, mode): return opens(path, mode)
    return call
slotted, held, entry = Slotted(), Held(), Entry(opens=open)
slotted.open = open
held.__dict__["again"] = open
fixed, deep = (None, open), {"a": (0, (open,))}
table, listed, nested = {None: open}, [open], {"a": [{"b": open}]}
WAYS = {
    "module": open, "dict": lambda *a: table[None](*a), "list": lambda *a: listed[0](*a), "nested": lambda *a: nested["a"][0]["b"](*a),
    "class": lambda *a: Held.opens(*a), "static": lambda *a: Held.static(*a), "attribute": lambda *a: held.open(*a),
    "namespace": lambda *a: held.again(*a), "slot": lambda *a: slotted.open(*a), "subclass": lambda *a: entry["opens"](*a),
    "default": default, "keyword": keyword, "closure": closure(open), "partial": functools.partial(open),
    "argument": functools.partial(lambda opens, *a: opens(*a), open), "tuple": lambda *a: fixed[1](*a), "tuples": lambda *a: deep["a"][1][0](*a),
    "FileIO": lambda p, m: {"k": io.FileIO}["k"](p, m),
}
REMOVES = {"dict": {"remove": os.remove}["remove"], "closure": (lambda call: lambda path: call(path))(os.remove)}
"""


def test_what_was_imported_before_florc_began_leaves_the_files_too(workshop: Workshop) -> None:
    """A library that a `sitecustomize` imports has kept `open` in some place of its own."""
    ways = re.findall(r'"(\w+)": ', HOLDERS[HOLDERS.index("WAYS") : HOLDERS.index("REMOVES")])
    assert len(ways) >= 18
    workshop.write("holders.py", HOLDERS)
    workshop.write("sitecustomize.py", "import holders\n")
    with_modules_of(workshop)
    script = """
        import holders, time
        for epoch in range(3):
            for step in range(3):
                time.sleep(0.004)
            for name, way in holders.WAYS.items():
                if name == "k": continue
                with way(f"{name}.txt", "w") as file:
                    text = f"{name} {epoch}"
                    file.write(text.encode() if name == "FileIO" else text)
            for name, remove in holders.REMOVES.items():
                with open(f"gone {name}", "w"): pass
                remove(f"gone {name}")
            # ADDED
        """
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", script.replace("# ADDED", "print('PROBE', epoch, open('dict.txt').read())"))
    assert {f"{name}.txt" for name in ways if name != "k"} <= {path.name for path in workshop.path.glob("*.txt")}
    for path in workshop.path.glob("*.txt"):
        path.write_text("newer")
    for name in ("gone dict", "gone closure"):
        workshop.write(name, "newer")
    before = tree(workshop.path)
    done = workshop.florc("replay", "--step-into", "all", "train.py")
    after = tree(workshop.path)
    assert [name for name in before if before[name] != after.get(name)] == []
    assert after == before and done.out == "".join(f"PROBE {epoch} dict {epoch}\n" for epoch in range(3)), done


def test_a_note_that_fails_is_no_error(workshop: Workshop) -> None:
    """Whatever goes wrong while the run is looked at: the script does not see it."""
    workshop.write("train.py", text_of("what is removed"))
    found(workshop.path)
    workshop.write(
        "sitecustomize.py",
        """
        import builtins, os
        from florc.record import files_noted
        files_noted.name_of = files_noted.NONE = files_noted._kind_of = None
        """,
    )
    with_modules_of(workshop)
    done = workshop.florc("record", "train.py")
    assert (done.code, done.err) == (0, ""), done


@pytest.mark.parametrize("workers", ["2", "3"])
def test_workers_have_views_of_their_own(workshop: Workshop, workers: str) -> None:
    script = """
        import os, time
        os.makedirs("out", exist_ok=True)
        for epoch in range(6):
            for step in range(8):
                time.sleep(0.02)
                total = step * epoch
            with open("out/last.txt", "w") as file:
                file.write(str(epoch))
            # ADDED
        """
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", script.replace("# ADDED", "print('PROBE', open('out/last.txt').read())"))
    before = tree(workshop.path)
    done = workshop.florc("replay", "--step-into", "all", "--workers", workers, "train.py")
    assert (done.out, done.code) == ("".join(f"PROBE {epoch}\n" for epoch in range(6)), 0), done
    assert tree(workshop.path) == before
    assert not list(workshop.path.glob(".florc/runs/*/replays/*/files"))
    assert not os.path.exists(workshop.path / ".florc" / "kept") and shutil.which("sh")
