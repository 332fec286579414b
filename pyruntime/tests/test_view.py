"""In the view of a replay, whatever a script does with files gives what it gives in a copy of the folder; the folder stays as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from viewed import tree

BEGIN = """
    import contextlib, errno, glob, io, os, pathlib, shutil, stat, sys
    def tell(call, *args, **options):
        try:
            found = call(*args, **options)
        except OSError as error:
            found = (type(error).__name__, error.errno, error.filename, error.filename2, str(error))
        except Exception as error:
            found = (type(error).__name__, str(error))
        if hasattr(found, "st_mode"):
            found = (oct(found.st_mode), found.st_size)
        print(found)
    def is_dir(entry):
        try:
            return entry.is_dir()
        except OSError as error:
            return bool(print(entry.name, error))
    def show(top="."):
        for at, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(at, name)
                if stat.S_ISFIFO(os.lstat(path).st_mode):
                    print(path)
                else:
                    print(path, os.readlink(path) if os.path.islink(path) else (oct(os.stat(path).st_mode), open(path, "rb").read()))
            print(at, sorted(folders), sorted(names), sorted(os.listdir(at)), sorted(e.name for e in os.scandir(at) if is_dir(e)))
    """

SCRIPTS = {
    "open": """
        for mode in ("r", "w", "a", "r+", "x", "w+", "a+", "rb", "xb"):
            for path in ("old.txt", "new.txt", "dir/old.txt", "no/new.txt", "dir", "link.txt", "dangling", pathlib.Path("p.txt"), b"b"):
                try:
                    with open(path, mode) as file:
                        print(mode, path, file.name, file.mode, file.seekable(), isinstance(file, io.TextIOWrapper))
                        if "+" in mode or mode in "wxab":
                            file.write("abc" if "b" not in mode else b"abc")
                        if "r" in mode or "+" in mode:
                            file.seek(0); print(file.read())
                except OSError as error:
                    print(mode, path, type(error), error.filename, error)
            show()
    """,
    "functions": """
        for call in (os.stat, os.lstat, os.readlink, os.listdir, os.path.exists, os.path.isdir, os.path.getsize, os.unlink, os.rmdir,
                     os.mkdir, os.path.realpath, os.path.islink, os.statvfs, os.listxattr, os.makedirs, os.removedirs, os.remove):
            for path in ("old.txt", "dir", "dir/sub", "link.txt", "linked", "dangling", "no", "no/no", "old.txt/x", "dir/", "linked/old.txt",
                         "linked/../old.txt", "./dir/./sub", "", b"dir/old.txt", pathlib.Path("dir"), "dir/sub/deep.txt", "made/of/many"):
                if call not in (os.statvfs,):
                    tell(call, path)
        show()
    """,
    "rename": """
        import itertools
        names = ("old.txt", "dir", "dir/sub", "link.txt", "linked", "no", "new.txt", "empty", "dir/old.txt", "no/x", "second")
        for source, target in itertools.product(names, names):
            print(source, target, end=" ")
            tell(os.rename if len(source) % 2 else os.replace, source, target)
            print(sorted(os.listdir(".")))
        show()
        with open("made.tmp", "w") as file: file.write("1")
        tell(os.replace, "made.tmp", "made.txt"); tell(os.replace, "made.txt", "old.txt"); tell(os.replace, "made.txt", "empty.txt")
        show()
    """,
    "links": """
        tell(os.symlink, "old.txt", "s1"); tell(os.symlink, "nowhere", "old.txt"); tell(os.symlink, "dir", "s2")
        open("s1", "a").write("more"); open("s2/x", "w").write("y"); print(open("old.txt").read(), os.listdir("s2") == os.listdir("dir"))
        tell(os.link, "old.txt", "hard"); open("hard", "a").write("!"); print(open("old.txt").read(), os.stat("hard").st_nlink)
        tell(os.link, "no", "a"); tell(os.link, "old.txt", "hard"); tell(os.link, "dir", "h")
        tell(os.truncate, "old.txt", 2); print(open("hard").read())
        tell(os.chmod, "dir/old.txt", 0o600); tell(os.stat, "dir/old.txt"); tell(os.utime, "dir/old.txt", (5, 6)); print(os.stat("dir/old.txt").st_mtime)
        tell(os.utime, "dir/old.txt", ns=(5, 7)); print(os.stat("dir/old.txt").st_mtime_ns); pathlib.Path("touched").touch(); pathlib.Path("old.txt").touch()
        os.symlink("loop", "loop"); tell(os.stat, "loop"); tell(open, "loop"); print(os.path.realpath("s2/x")[-5:], os.path.samefile("s1", "old.txt"))
        os.unlink("s1"); os.unlink("linked"); show()
        os.mkfifo("pipe"); print(stat.S_ISFIFO(os.stat("pipe").st_mode))
    """,
    "folders": """
        os.makedirs("runs/exp/weights", exist_ok=True); os.makedirs("dir/sub", exist_ok=True); tell(os.makedirs, "dir/sub")
        open("runs/exp/weights/last.pt", "w").write("1"); open("dir/sub/new", "w").write("2")
        tell(os.rmdir, "dir/sub"); tell(os.rmdir, "old.txt"); os.chdir("runs/exp"); print(os.getcwd(), os.listdir("."), sorted(os.listdir("../..")))
        open("here.txt", "w").write("x"); print(os.path.abspath("here.txt")[-17:]); os.chdir("../.."); os.chdir("dir"); print(sorted(os.listdir()))
        open("z", "w").close(); os.chdir(".."); show()
        with os.scandir("dir") as found:
            for entry in sorted(found, key=lambda e: e.name):
                print(entry.name, entry.path, entry.is_dir(), entry.is_file(), entry.is_symlink(), entry.stat().st_size, os.fspath(entry))
        fd = os.open("dir", os.O_RDONLY); print(sorted(os.listdir(fd)), os.stat("z", dir_fd=fd).st_size, sorted(e.name for e in os.scandir(fd)))
        os.unlink("z", dir_fd=fd); os.close(os.open("old.txt", os.O_WRONLY | os.O_TRUNC, dir_fd=fd)); os.mkdir("w", dir_fd=fd); os.rename("w", "v", src_dir_fd=fd, dst_dir_fd=fd)
        os.close(fd); show(); shutil.rmtree("dir"); print(os.path.exists("dir")); os.mkdir("dir"); print(os.listdir("dir")); tell(os.stat, "dir/old.txt")
        shutil.copytree("runs", "copy"); shutil.move("copy", "dir/copy"); shutil.rmtree("runs"); show(); tell(shutil.rmtree, "no")
        shutil.copy("old.txt", "dir"); shutil.copy2("dir/old.txt", "again.txt"); shutil.move("again.txt", "moved.txt"); show()
        shutil.make_archive("all", "zip", "dir"); print(os.path.getsize("all.zip") > 0); os.removedirs("empty"); show("dir")
    """,
    "glob and pathlib": """
        from pathlib import Path
        Path("dir/new.txt").write_text("a"); Path("old.txt").unlink(); Path("p").mkdir(); (Path("p") / "q.txt").write_bytes(b"1")
        print(sorted(glob.glob("*")), sorted(glob.glob("**/*.txt", recursive=True)), sorted(map(str, Path(".").rglob("*.txt"))))
        print(sorted(map(str, Path("dir").iterdir())), Path("p/q.txt").exists(), Path("old.txt").is_file(), Path("dir/new.txt").stat().st_size)
        Path("p/q.txt").rename("p/r.txt"); Path("p/r.txt").replace("dir/old.txt"); print(Path("dir/old.txt").read_text(), Path("p").resolve().name)
        tell(Path("p").rmdir); tell(Path("no").unlink); Path("no").unlink(missing_ok=True); tell(Path("dir").mkdir); Path("dir").mkdir(exist_ok=True)
        Path("l").symlink_to("dir"); print(Path("l/old.txt").read_text(), Path("l").readlink(), sorted(os.listdir(b"dir")), Path("dir").owner() != "")
        def increment_path(path):
            path = Path(path)
            return path if not path.exists() else next(p for n in range(2, 99) if not (p := Path(f"{path}{n}")).exists())
        for _ in range(3):
            found = increment_path("runs/exp"); found.mkdir(parents=True); print(found)
        show()
    """,
    "logs and archives": """
        import csv, gzip, bz2, lzma, json, zipfile, tarfile, logging, pickle, shelve, sqlite3, tempfile, fileinput, configparser, mmap, linecache
        open("old.txt", "a").write("tail\\n"); print(open("old.txt").read())
        with open("old.txt", "r+") as file: file.seek(1); file.write("ZZ")
        print(open("old.txt").read())
        for module in (gzip, bz2, lzma):
            with module.open("packed", "wt") as file: file.write("text")
            with module.open("packed", "rt") as file: print(file.read())
        with open("t.csv", "w", newline="") as file: csv.writer(file).writerows([[1, 2], [3, 4]])
        print(list(csv.reader(open("t.csv"))))
        with zipfile.ZipFile("z.zip", "w") as z: z.write("old.txt"); z.writestr("in", "side")
        with zipfile.ZipFile("z.zip", "a") as z: z.writestr("more", "x")
        with zipfile.ZipFile("z.zip") as z: print(z.namelist(), z.read("in")); z.extractall("out")
        with tarfile.open("t.tar.gz", "w:gz") as t: t.add("dir")
        with tarfile.open("t.tar.gz") as t: print(sorted(t.getnames())); t.extractall("untarred")
        with shelve.open("shelf") as shelf: shelf["a"] = [1]
        with shelve.open("shelf") as shelf: shelf["b"] = 2; print(sorted(shelf.items()))
        for name in ("old.db", "new.db"):
            db = sqlite3.connect(name); db.execute("create table if not exists t (a)"); db.execute("insert into t values (7)"); db.commit()
            print(db.execute("select * from t").fetchall()); db.close()
        with contextlib.closing(sqlite3.connect("file:old.db?mode=ro", uri=True)) as db: print(db.execute("select count(*) from t").fetchall())
        with contextlib.closing(sqlite3.connect(":memory:")) as db: db.execute("create table x (a)")
        log = logging.FileHandler("run.log"); logging.getLogger().addHandler(log); logging.warning("said"); log.close(); print(open("run.log").read())
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "a"), "w").write("1"); print(os.listdir(folder), os.path.exists(os.path.join(folder, "a")))
        print(os.path.exists(folder))
        with tempfile.NamedTemporaryFile("w", dir="dir", delete=False) as file: file.write("safe")
        os.replace(file.name, "dir/old.txt"); print(open("dir/old.txt").read(), sorted(os.listdir("dir")))
        with tempfile.NamedTemporaryFile("w", delete=False) as file: file.write("moved")
        shutil.move(file.name, "moved.txt"); print(open("moved.txt").read(), os.path.exists(file.name))
        with tempfile.TemporaryFile() as file: file.write(b"1")
        handle, name = tempfile.mkstemp(); os.write(handle, b"1"); os.close(handle); print(os.path.getsize(name)); os.remove(name)
        with open("old.txt", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory: memory[0:1] = b"M"
        print(open("old.txt").read(), linecache.getline("old.txt", 1)); json.dump([1], open("j.json", "w")); print(json.load(open("j.json")))
        with io.FileIO("raw", "w") as file: file.write(b"1"); print(file.name, isinstance(file, io.FileIO), isinstance(open("raw", "rb").raw, io.FileIO))
        with fileinput.input("old.txt", inplace=True) as lines:
            for line in lines: print(line.upper(), end="")
        print(open("old.txt").read()); show("dir")
    """,
    "numpy": """
        import numpy as np
        np.save("a.npy", np.arange(4)); print(np.load("a.npy"), np.load("old.npy")); np.savez("a.npz", x=np.ones(2)); print(np.load("a.npz")["x"])
        np.savetxt("a.csv", np.ones((2, 2))); print(np.loadtxt("a.csv")); np.arange(3).tofile("raw"); print(np.fromfile("raw", dtype=int))
        m = np.memmap("old.npy", dtype=np.uint8, mode="r+"); m[-1] = 9; m.flush(); print(np.load("old.npy"))
        m = np.memmap("new.bin", dtype=float, mode="w+", shape=3); m[:] = 2; m.flush(); print(np.fromfile("new.bin"), np.load("old.npy", mmap_mode="r"))
        m = np.lib.format.open_memmap("o.npy", mode="w+", shape=(2,), dtype=float); m[:] = 1; m.flush(); print(np.load("o.npy"))
    """,
    "torch": """
        import torch
        from torch.utils.data import DataLoader, Dataset
        torch.save({"a": torch.ones(2)}, "old.pt"); print(torch.load("old.pt")); torch.save([1], "dir/new.pt"); print(torch.load("dir/new.pt"))
        torch.save([2], pathlib.Path("p.pt")); print(torch.load("p.pt"), torch.load("p.pt", mmap=True)); torch.save([3], "old.pt", _use_new_zipfile_serialization=False)
        print(torch.load("old.pt")); tell(torch.load, "no.pt"); tell(torch.save, [1], "no/x.pt")
        class Files(Dataset):
            def __len__(self): return 4
            def __getitem__(self, n):
                with open(f"seen{n}", "w") as file: file.write(str(n))
                return int(open(f"data{n}").read()) + len(open("old.txt").read())
        for n in range(4): open(f"data{n}", "w").write(str(n))
        open("old.txt", "w").write("12345")
        for workers in (0, 2):
            for batch in DataLoader(Files(), batch_size=2, num_workers=workers): print(batch)
            print(sorted(glob.glob("seen*")), [open(f"seen{n}").read() for n in range(4)])
            for n in range(4): os.remove(f"seen{n}")
        torch.jit.script(torch.nn.Linear(2, 2)).save("jit.pt"); print(os.path.exists("jit.pt"), type(torch.jit.load("jit.pt")).__name__)
    """,
    "children": """
        import multiprocessing, threading
        def child(n):
            open(f"from{n}", "w").write(str(n)); os.remove("old.txt") if n == 0 else None
        for n in range(2):
            process = multiprocessing.get_context("fork").Process(target=child, args=(n,)); process.start(); process.join(); print(process.exitcode)
        print(sorted(glob.glob("from*")), os.path.exists("old.txt"), open("from1").read())
        thread = threading.Thread(target=child, args=(2,)); thread.start(); thread.join(); print(open("from2").read())
        if os.fork() == 0:
            os.rename("dir", "dir2"); os._exit(0)
        os.wait(); show()
    """,
    "identity": """
        import copy, pickle, inspect, traceback, builtins
        print(pickle.loads(pickle.dumps(open)) is open, copy.deepcopy(os.stat) is os.stat, open is io.open is builtins.open, os.stat.__name__)
        print(inspect.signature(os.stat), os.stat in os.supports_follow_symlinks, os.unlink in os.supports_dir_fd, os.listdir in os.supports_fd, callable(open))
        class Has: read = os.listdir
        print(sorted(Has().read("dir")))
        try: open("no")
        except OSError: print(traceback.format_exc().replace(__file__, "FILE"))
        try: os.rmdir("dir")
        except OSError: print(traceback.format_exc().replace(__file__, "FILE"))
        try: open("old.txt", "q")
        except ValueError: print(traceback.format_exc().replace(__file__, "FILE"))
        tell(open); tell(os.stat); tell(os.stat, "a", "b"); tell(open, "a\\0b"); tell(os.listdir, 99); tell(open, 99); print(os.getcwdb() == os.fsencode(os.getcwd()))
    """,
}


def as_found(folder: Path) -> Path:
    """A folder with what scripts find."""
    (folder / "dir/sub").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "second").mkdir()
    for name, text in (
        ("old.txt", "old\n"),
        ("dir/old.txt", "in dir\n"),
        ("dir/sub/deep.txt", "deep"),
        ("second/x", "x"),
        ("old.pt", ""),
    ):
        (folder / name).write_text(text)
    os.chmod(folder / "old.txt", 0o640)
    (folder / "link.txt").symlink_to("old.txt")
    (folder / "linked").symlink_to("dir")
    (folder / "dangling").symlink_to("made_by_link")
    (folder / "old.npy").write_bytes(
        b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }" + b" " * 60 + b"\n" + bytes(8)
    )
    import contextlib
    import sqlite3

    with contextlib.closing(sqlite3.connect(folder / "old.db")) as database:
        database.execute("create table t (a)")
        database.commit()
    return folder


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_sees_what_it_would_see_in_a_copy_of_the_folder(tmp_path: Path, name: str) -> None:
    if name in ("numpy", "torch"):
        pytest.importorskip(name)
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(BEGIN) + textwrap.dedent(SCRIPTS[name]))
    folder = as_found(tmp_path / "user")
    shutil.copytree(folder, tmp_path / "plain" / "user", symlinks=True)
    before = tree(folder)
    helper = os.path.join(os.path.dirname(__file__), "viewed.py")
    plain, viewed = (
        subprocess.run([sys.executable, *words, str(script)], cwd=cwd, capture_output=True, text=True, timeout=120)
        for words, cwd in (((), tmp_path / "plain" / "user"), ((helper, str(tmp_path / "store")), folder))
    )
    assert plain.returncode == 0, plain.stderr
    assert viewed.stdout == plain.stdout.replace(str(tmp_path / "plain"), str(tmp_path))
    assert (viewed.stderr, viewed.returncode) == (plain.stderr, 0)
    assert tree(folder) == before


def test_every_function_of_the_system_that_takes_a_path_is_thought_of() -> None:
    """The names of arguments tell which those are; a newer Python may have more."""
    import inspect
    import posix

    from florc.replay.files import redirection

    named = {"path", "src", "dst", "file", "filename", "name"}
    without_path = {"confstr", "sysconf", "fpathconf", "getxattr fd"}  # a name of a setting
    unknown = []
    for name in dir(posix):
        try:
            arguments = inspect.signature(getattr(posix, name)).parameters if callable(getattr(posix, name)) else {}
        except (TypeError, ValueError):
            continue
        takes_bytes = name in ("copy_file_range", "splice", "sendfile", "dup2", "putenv", "unsetenv")  # descriptors, variables
        if named & set(arguments) and not takes_bytes and name not in without_path:
            if name not in redirection.HANDLED and name not in redirection.LEFT:
                unknown.append(name)
    assert not unknown
    assert not set(redirection.HANDLED) & set(redirection.LEFT)
    assert {"stat", "open", "rename", "mkdir", "scandir", "unlink"} <= set(redirection.HANDLED)
