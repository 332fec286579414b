"""Blocks that write files, and what is asked of these files when the blocks were restored: a wrong answer is told."""

from cases import Cases

SCRIPTS = Cases()

_SCRIPT = """
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
IMPORTS
total = 0
BEFORE
for epoch in range(4):
    for i in range(3):
        time.sleep(0.01)
        total += i * epoch
        INSIDE
    AFTER
    print(epoch, total)
"""


def add(name: str, before: str, inside: str, after: str, imports: str = "", **options: object) -> None:
    """A block with statements of its own, and what is asked after it; the replay finds the files of the recorded run."""
    text = _SCRIPT
    for word, lines in (("IMPORTS", imports), ("BEFORE", before), ("INSIDE", inside), ("AFTER", after)):
        at = text.index(word)
        indent = text[text.rindex("\n", 0, at) + 1 : at]
        text = text.replace(
            indent + word,
            "\n".join("+" + indent + line[1:] if line.startswith("+") else indent + line for line in lines.splitlines()),
            1,
        )
    SCRIPTS.add(f"files_{name}", text, keep=True, **options)  # type: ignore[arg-type]


_APPENDS = 'with open("log.txt", "a") as f: f.write(f"{epoch} {i}\\n" * (i + 1))'
_NAMES = 'open(f"d/{epoch}_{i}", "w").write("x")'
_HANDLE = 'f = open("log.txt", "w")'
_WRITES = 'f.write(f"{epoch} {i}\\n")'

for name, before, inside, after in (
    ("getsize", "", _APPENDS, '+print("PROBE", os.path.getsize("log.txt"))'),
    ("size_by_the_script", "", _APPENDS, 'size = os.path.getsize("log.txt")\n+print("PROBE", size)'),
    ("stat_of_a_path", "", _APPENDS, '+print("PROBE", pathlib.Path("log.txt").stat().st_size)'),
    (
        "size_of_a_folder",
        'os.mkdir("d")',
        'open(f"d/{i}", "w").write("x" * epoch)',
        '+print("PROBE", sum(entry.stat().st_size for entry in os.scandir("d")))',
    ),
    ("mode", 'open("f", "w").close()', 'os.chmod("f", 0o600 + epoch)', '+print("PROBE", os.stat("f").st_mode)'),
    ("times", 'open("f", "w").close()', 'os.utime("f", (epoch, epoch))', '+print("PROBE", os.path.getmtime("f"))'),
    ("truncated", 'open("f", "w").write("x" * 100)', 'os.truncate("f", epoch)', '+print("PROBE", os.stat("f").st_size)'),
    (
        "link",
        "",
        'if os.path.lexists("latest"): os.remove("latest")\nos.symlink(f"f{epoch}", "latest")',
        '+print("PROBE", os.readlink("latest"))',
    ),
    (
        "removed_later",
        "",
        'open(f"f{epoch}", "w").close()\nif epoch and i == 0: os.remove(f"f{epoch - 1}")',
        '+print("PROBE", [os.path.exists(f"f{k}") for k in range(4)])',
    ),
    (
        "listed_after_removals",
        'os.mkdir("d")',
        'open(f"d/{epoch}", "w").close()\nif epoch and i == 0: os.remove(f"d/{epoch - 1}")',
        '+print("PROBE", sorted(os.listdir("d")))',
    ),
    ("handle_tell", _HANDLE, _WRITES, '+print("PROBE", f.tell())'),
    ("handle_tell_by_the_script", _HANDLE, _WRITES, 'at = f.tell()\n+print("PROBE", at)'),
    ("handle_seek", _HANDLE, _WRITES, '+print("PROBE", f.seek(0, 2))'),
    ("handle_fstat", _HANDLE, _WRITES, 'f.flush()\n+print("PROBE", os.fstat(f.fileno()).st_size)'),
    ("handle_getsize", _HANDLE, _WRITES, 'f.flush()\n+print("PROBE", os.path.getsize("log.txt"))'),
    ("handle_read", _HANDLE, _WRITES, 'f.flush()\n+print("PROBE", open("log.txt").read().split())'),
    ("handle_of_both", 'f = open("log.txt", "w+")', _WRITES, 'f.seek(0)\ntext = f.read()\n+print("PROBE", repr(text))'),
    ("handle_of_bytes", 'f = open("log.txt", "wb")', 'f.write(b"xy")', '+print("PROBE", f.tell())'),
    (
        "descriptor",
        'f = os.open("log.txt", os.O_WRONLY | os.O_CREAT)',
        'os.write(f, b"x")',
        '+print("PROBE", os.lseek(f, 0, os.SEEK_CUR), os.stat(f).st_size)',
    ),
    ("printed_to", _HANDLE, "print(epoch, i, file=f, flush=True)", '+print("PROBE", os.path.getsize("log.txt"))'),
    ("csv", _HANDLE + "\nw = csv.writer(f)", "w.writerow([epoch, i])", 'f.flush()\n+print("PROBE", os.path.getsize("log.txt"))'),
    (
        "logging",
        'logging.basicConfig(filename="log.txt", level=logging.INFO)',
        'logging.info("%d %d", epoch, i)',
        '+print("PROBE", os.path.getsize("log.txt"))',
    ),
    (
        "logging_read",
        'logging.basicConfig(filename="log.txt", level=logging.INFO)',
        'logging.info("%d %d", epoch, i)',
        '+print("PROBE", open("log.txt").read().split())',
    ),
):
    add(name, before, inside, after, unsure=True)

# What is asked can be known: the names that blocks made are there.
for name, before, inside, after in (
    ("exists", "", 'open(f"f{epoch}", "w").close()', '+print("PROBE", [os.path.exists(f"f{k}") for k in range(4)])'),
    ("listdir", 'os.mkdir("d")', _NAMES, '+print("PROBE", sorted(os.listdir("d")), len(glob.glob("d/*")))'),
    ("scandir", 'os.mkdir("d")', _NAMES, '+print("PROBE", sorted(entry.name for entry in os.scandir("d")))'),
    ("walk", 'os.mkdir("d")', _NAMES, '+print("PROBE", [len(names) for _, _, names in os.walk("d")])'),
    (
        "renamed",
        "",
        'open("tmp", "w").close()\nos.replace("tmp", f"f{epoch}")',
        '+print("PROBE", os.path.exists("tmp"), sorted(os.listdir(".")) == sorted(["train.py", *(f"f{k}" for k in range(epoch + 1))]))',
    ),
    ("written_anew", "", _APPENDS, 'open("log.txt", "w").write("x" * epoch)\n+print("PROBE", epoch)'),
    ("handle_that_only_the_epoch_writes", _HANDLE, "pass", 'f.write("x")\n+print("PROBE", f.tell())'),
    ("handle_beside_what_is_printed", _HANDLE, "print(i)", 'f.write("x")\n+print("PROBE", f.tell())'),
):
    add(name, before, inside, after)

# Files with names that differ in every run, and files without a name.
_TEMPORARY = "import atexit, shutil, tempfile"
_AT_END = "\natexit.register(shutil.rmtree, d, True)"
_ADDS = 'with open(f"{d}/log.txt", "a") as f: f.write(f"{epoch} {i}\\n" * (i + 1))'
_FOLDERS = {
    "mkdtemp": "d = tempfile.mkdtemp()",
    "mkdtemp_here": 'd = tempfile.mkdtemp(dir=".")',
    "temporary_folder": "t = tempfile.TemporaryDirectory()\nd = t.name",
    "of_the_process": 'd = f"run{os.getpid()}"\nos.mkdir(d)',
    "in_another": 'd = tempfile.mkdtemp() + "/a/b"\nos.makedirs(d)',
}
for kind, made in _FOLDERS.items():
    made += _AT_END
    for name, inside, after in (
        ("listed", 'open(f"{d}/{epoch}_{i}", "w").close()', '+print("PROBE", len(os.listdir(d)))'),
        ("globbed", 'open(f"{d}/{epoch}_{i}", "w").close()', '+print("PROBE", len(glob.glob(d + "/*")))'),
        ("walked", 'open(f"{d}/{epoch}_{i}", "w").close()', '+print("PROBE", [len(names) for _, _, names in os.walk(d)])'),
        ("exists", 'open(f"{d}/{epoch}_{i}", "w").close()', '+print("PROBE", os.path.exists(f"{d}/{epoch}_1"))'),
        ("removed", 'if i == 1: os.remove(f"{d}/x")', '+print("PROBE", os.path.exists(f"{d}/x"))\nopen(f"{d}/x", "w").close()'),
        (
            "appended_to",
            _ADDS,
            'with open(f"{d}/log.txt", "a") as f: f.write("end")\n+print("PROBE", os.path.getsize(f"{d}/log.txt"))',
        ),
        (
            "read",
            'open(f"{d}/x", "w").write(str(total))',
            '+print("PROBE", open(f"{d}/x").read() if os.path.exists(f"{d}/x") else 0)',
        ),
        (
            "moved",
            'open(f"{d}/{epoch}_{i}", "w").close()',
            'e = f"{d}{epoch}"\nos.rename(d, e)\n+print("PROBE", len(os.listdir(e)))\nos.rename(e, d)',
        ),
    ):
        first = made + '\nopen(f"{d}/x", "w").close()' * (name == "removed")
        # a folder that the script itself renames: the block runs again
        add(f"{kind}_{name}", first, inside, after, imports=_TEMPORARY, unsure=True, restores=None if name == "moved" else True)
    # only the code that runs again wrote what is asked for; the block wrote nothing, or something else
    add(
        f"{kind}_of_the_epoch",
        made,
        "pass",
        _ADDS.replace("{i}", "") + '\n+print("PROBE", os.path.getsize(f"{d}/log.txt"), len(os.listdir(d)))',
        imports=_TEMPORARY,
        exact=True,
    )
    add(
        f"{kind}_beside_another",
        made,
        'open(f"{d}/x", "w").close()',
        _ADDS.replace("{i}", "") + '\n+print("PROBE", open(f"{d}/log.txt").read().split())',
        imports=_TEMPORARY,
        exact=True,
    )
_TEMPORARIES = {
    "temporary_file": 'f = tempfile.TemporaryFile("w+")',
    "named": 'f = tempfile.NamedTemporaryFile("w+")',
    "named_here": 'f = tempfile.NamedTemporaryFile("w+", dir=".")',
    "removed": 'f = open("x", "w+")\nos.remove("x")',
    "descriptor": 'n, _ = tempfile.mkstemp()\nf = os.fdopen(n, "w+")',
    "in_memory": 'f = os.fdopen(os.memfd_create("x"), "w+")',
    "opener": 'f = open("x", "w+", opener=lambda path, flags: os.open(path, flags))',
}
for kind, made in _TEMPORARIES.items():
    for name, after in (
        ("read", 'f.flush()\nf.seek(0)\nt = f.read()\n+print("PROBE", t.split())'),
        ("tell", 'f.flush()\n+print("PROBE", f.tell())'),
        ("fstat", 'f.flush()\n+print("PROBE", os.fstat(f.fileno()).st_size)'),
        ("duplicate", 'f.flush()\n+print("PROBE", os.pread(os.dup(f.fileno()), 99, 0))'),
    ):
        add(f"{kind}_{name}", made, _WRITES, after, imports=_TEMPORARY, unsure=True)
    add(
        f"{kind}_of_the_epoch", made, "pass", 'f.write("x")\nf.flush()\n+print("PROBE", f.tell())', imports=_TEMPORARY, exact=True
    )
add(
    "named_then_renamed",
    'def new(): return tempfile.NamedTemporaryFile("w", dir=".", delete=False)\nf = new()',
    _WRITES,
    'f.close()\nos.replace(f.name, "safe.txt")\n+print("PROBE", open("safe.txt").read().split())\nf = new()',
    imports=_TEMPORARY,
    unsure=True,
)
add(
    "renamed_after_the_block",
    "",
    _APPENDS,
    'if os.path.exists("log.txt"): os.replace("log.txt", "safe.txt")\n'
    '+print("PROBE", open("safe.txt").read().split() if os.path.exists("safe.txt") else 0)',
    restores=None,
    unsure=True,
)
add(
    "temporary_folder_of_an_added_statement",
    "",
    _APPENDS,
    '+with tempfile.TemporaryDirectory() as own: open(own + "/a", "w").write("a"); print("PROBE", total, os.listdir(own))',
    imports=_TEMPORARY,
    exact=True,
)

# The script itself does not find what a block wrote: the block runs again by itself.
_MAKES = 'open(f"d/{epoch}_{i}", "w").write(str(total))'
for name, before, inside, after in (
    ("removed_by_the_script", "", _MAKES, 'if epoch: os.remove(f"d/{epoch - 1}_0")\n+print("PROBE", total)'),
    ("renamed_by_the_script", "", _MAKES, 'os.rename(f"d/{epoch}_0", f"d/last")\n+print("PROBE", open("d/last").read())'),
    (
        "tree_copied_by_the_script",
        "",
        _MAKES,
        'shutil.copytree("d", f"e{epoch}")\nshutil.rmtree("d")\nos.mkdir("d")\n'
        'print(open(f"e{epoch}/{epoch}_1").read())\n+print("PROBE", sorted(os.listdir(f"e{epoch}")))',
    ),
    (
        "listed_by_the_script",
        "",
        _MAKES,
        'print(sorted(os.listdir("d")))\nfor name in os.listdir("d"): os.remove("d/" + name)\n+print("PROBE", epoch)',
    ),
    (
        "looked_for_by_the_script",
        "",
        _MAKES,
        'if os.path.exists(f"d/{epoch}_0"): os.rename(f"d/{epoch}_0", "d/last")\nelse: print("none")\n'
        '+print("PROBE", open("d/last").read())',
    ),
    (
        "tried_by_the_script",
        "",
        _MAKES,
        'try: os.rename(f"d/{epoch}_0", "d/last")\nexcept OSError: print("none")\n+print("PROBE", open("d/last").read())',
    ),
    (
        "array_by_the_script",
        "",
        'np.save(f"d/{epoch}", [total])',
        'x = np.load(f"d/{epoch}.npy")\nos.remove(f"d/{epoch}.npy")\n+print("PROBE", x)',
    ),
    (
        "in_a_temporary_folder",
        "d = tempfile.mkdtemp()" + _AT_END,
        _ADDS,
        'x = open(f"{d}/log.txt").read()\n+print("PROBE", x.split())',
    ),
    (
        "listed_in_a_temporary_folder",
        "d = tempfile.mkdtemp()" + _AT_END,
        'open(f"{d}/{i}", "w").close()',
        'print(sorted(os.listdir(d)))\n+print("PROBE", epoch)',
    ),
    (
        "in_a_shelf",
        'import shelve\ndb = shelve.open("db")',
        "db[str(i)] = total",
        'print(sorted(db.items()))\n+print("PROBE", sorted(db.items()))',
    ),
):
    add(
        f"needed_{name}",
        'os.mkdir("d")\n' + before,
        inside,
        after,
        imports=_TEMPORARY + ", numpy as np" * name.startswith("array"),
        restores=False,
        exact=True,
    )
# what was printed before the block ran again stays printed, and is wrong
add(
    "needed_after_a_wrong_answer",
    'os.mkdir("d")',
    _MAKES,
    'if epoch: os.remove(f"d/{epoch - 1}_0")\n+print("PROBE", sorted(os.listdir("d")))',
    flagged=True,
)
# what is not there was not there then, either
add(
    "made_and_removed_in_the_block",
    "",
    'open("tmp", "w").write("x")\nos.remove("tmp")',
    'try: open("tmp")\nexcept OSError: total += 1\n+print("PROBE", total)',
    unsure=True,
)
add("never_there", 'os.mkdir("d")', _NAMES, 'try: open("d/stop")\nexcept OSError: total += 1\n+print("PROBE", total)', exact=True)

add(
    "pipe",
    'os.mkfifo("p")\nn = os.open("p", os.O_RDWR)',
    "pass",
    'os.write(n, b"%d" % total)\n+print("PROBE", total, os.path.exists("p"))\nprint(os.read(n, 99))',
    exact=True,
)
add(
    "pipe_that_is_there",
    'try: os.mkfifo("p")\nexcept FileExistsError: print("there")\ntry: os.mkfifo("p")\nexcept FileExistsError: print("there")',
    "pass",
    '+print("PROBE", total)',
    exact=True,
)
for name, flags in (("appended", "os.O_APPEND"), ("truncated", "os.O_TRUNC")):
    add(
        f"in_an_open_folder_{name}",
        'os.mkdir("d")\nd = os.open("d", os.O_RDONLY)',
        f'n = os.open("x", os.O_CREAT | os.O_WRONLY | {flags}, dir_fd=d)\nos.write(n, b"%d" % total)\nos.close(n)',
        '+print("PROBE", open("d/x").read())',
        unsure=True,
    )

# What a line that is logged changes beside files is seen while recording: these blocks run again.
_LOG = 'log = logging.getLogger("x")\nlog.setLevel(10)\n'
for name, before, after in (
    (
        "memory_handler",
        _LOG + "kept = logging.handlers.MemoryHandler(1000, logging.CRITICAL)\nlog.addHandler(kept)",
        '+print("PROBE", len(kept.buffer), kept.buffer[-1].getMessage())',
    ),
    (
        "memory_handler_without_a_name",
        "log = logging.getLogger()\nlog.setLevel(10)\nlog.addHandler(logging.handlers.MemoryHandler(1000, logging.CRITICAL))",
        '+print("PROBE", len(log.handlers[0].buffer))',
    ),
    (
        "queue_handler",
        _LOG + "kept = queue.Queue()\nlog.addHandler(logging.handlers.QueueHandler(kept))",
        '+print("PROBE", kept.qsize())',
    ),
):
    add(name, before, 'log.info("%d %d", epoch, i)', after, restores=False)
add("level_of_a_logger", _LOG + "kept = []", "log.setLevel(20 + 10 * (epoch % 2))", '+print("PROBE", log.level)', restores=False)
add(
    "attribute_of_an_array",
    "class Signal(np.ndarray):\n    def mark(self, what):\n        self.what = what\nx = np.zeros(3).view(Signal)",
    "x.mark(epoch * 10 + i)",
    '+print("PROBE", x.what)',
    imports="import numpy as np",
    restores=False,
)

SCRIPTS.add(
    "database_that_an_added_statement_asks",
    """
import sqlite3, time
def put(n):
    with sqlite3.connect("runs.db") as db:
        db.execute("create table if not exists t (a)")
        db.execute("insert into t values (?)", (n,))
    db.close()
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.02)
        n += i
        put(n)
    print(epoch)
+    db = sqlite3.connect("runs.db"); print("PROBE", n, db.execute("select count(*) from t").fetchall()); db.close()
""",
    unsure=True,
    keep=True,
)

# A function that reads a name of the block's own function shares its cell: restoring one restores the other.
SCRIPTS.add(
    "cell_that_a_function_reads",
    """
import time
def main():
    best = 0
    def show():
        return best
    for epoch in range(4):
        for i in range(3):
            time.sleep(0.01)
            best += i * epoch
+        print("PROBE", best, show())
        print(epoch, show())
main()
""",
)

# Names that change behind the back of the block's statements, and objects in the place of the interpreter's own.
for name, inside in (
    ("f_globals", 'sys._getframe().f_globals["w"] = epoch * 10 + i'),
    ("module", "sys.modules[__name__].w = epoch * 10 + i"),
    ("setattr", 'setattr(sys.modules[__name__], "w", epoch * 10 + i)'),
    ("vars", 'vars(me)["w"] = epoch * 10 + i'),
    ("dict_of_a_module", 'me.__dict__["w"] = epoch * 10 + i'),
    ("globals", 'globals()["w"] = epoch * 10 + i'),
    ("handler_of_a_signal", "os.kill(os.getpid(), signal.SIGUSR1)"),
    ("handler_that_collects", "os.kill(os.getpid(), signal.SIGUSR2)"),
):
    add(
        f"behind_{name}",
        "w, hits, me = 0, [], sys.modules[__name__]\ndef count(*_):\n    global w\n    w += 1\n"
        "signal.signal(signal.SIGUSR1, count)\nsignal.signal(signal.SIGUSR2, lambda *_: hits.append(1))",
        inside,
        '+print("PROBE", w, len(hits))',
        imports="import signal",
        restores=False,
    )
add(
    "behind_standard_output",
    "class Tee:\n    def __init__(self, out): self.out, self.got = out, []\n    def write(self, text):\n"
    "        self.got.append(text)\n        return self.out.write(text)\n    def flush(self): self.out.flush()\n"
    "sys.stdout = Tee(sys.stdout)",
    'print("in", i)',
    '+print("PROBE", len([text for text in sys.stdout.got if "in" in text]))',
    restores=False,
)
