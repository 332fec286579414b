"""Objects and settings that are not the script's own: what a loop does to them is not in its checkpoint, so that it runs again."""

from cases import Cases

SCRIPTS = Cases()

TRAINING = """
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)
{setup}
for epoch in range(3):
    for step in range(5):
        w *= 0.99
        {body}
        time.sleep(0.003)
+    print("PROBE", epoch, {probe})
    print("epoch", epoch, w.sum())
"""
HANDLES = {
    "event": ("plateau = threading.Event()", "plateau.set()", "plateau.is_set()"),
    "event_that_decides": (
        "plateau, scale = threading.Event(), [1.0]",
        "if w[0] < 0.93: plateau.set()",
        "plateau.is_set() and 0.5",
    ),
    "event_cleared": ("plateau = threading.Event(); plateau.set()", "plateau.clear()", "plateau.is_set()"),
    "lock_taken": ("lock = threading.Lock()", "lock.acquire(False)", "lock.locked()"),
    "semaphore": ("left = threading.Semaphore(50)", "left.acquire()", "left._value"),
    "spooled_file": ("sp = tempfile.SpooledTemporaryFile(mode='w+')", "sp.write(str(step))", "sp.tell()"),
    "spooled_bytes": (
        "sp = tempfile.SpooledTemporaryFile(mode='w+b')",
        "sp.write(b'x%d' % step)",
        "sp.tell(), sp.seek(0), len(sp.read())",
    ),
    "compressor": ("c = zlib.compressobj()", "z = c.compress(b'abc')", "len(c.copy().flush())"),
    "gzip_file": ("f = gzip.GzipFile('o.gz', 'wb', mtime=0)", "n = f.write(b'abc')", "f.tell()"),
    "bz2_file": ("f = bz2.open('o.bz2', 'wb')", "n = f.write(b'abc')", "f.tell()"),
    "lzma_file": ("f = lzma.open('o.xz', 'wb')", "n = f.write(b'abc')", "f.tell()"),
    "gc_off": ("", "gc.disable()", "gc.isenabled()"),
    "gc_threshold": ("", "gc.set_threshold(100 + step)", "gc.get_threshold()[0]"),
    "logging_off": ("", "logging.disable(step)", "logging.root.manager.disable"),
    "signal_ignored": ("", "signal.signal(signal.SIGUSR1, signal.SIG_IGN)", "int(signal.getsignal(signal.SIGUSR1))"),
    "arguments": ("", "sys.argv.append('x')", "len(sys.argv)"),
    "path": ("before = len(sys.path)", "sys.path.append('/nowhere')", "len(sys.path) - before"),
    "switch_interval": ("", "sys.setswitchinterval(0.01 + step / 1000)", "round(sys.getswitchinterval(), 4)"),
    "decimal_context": ("", "decimal.setcontext(decimal.Context(prec=5 + step))", "decimal.Decimal(1) / 3"),
}
for name, (setup, body, probe) in HANDLES.items():
    SCRIPTS.add(f"handle_{name}", TRAINING.format(setup=setup, body=body, probe=probe), restores=None)

SCRIPTS.add(
    "names_by_dir",
    """
import time
w = 0.0
for epoch in range(3):
    for step in range(5):
        w += step
        loss = [w]
        time.sleep(0.003)
+    print("PROBE", sorted(name for name in dir() if name in ("step", "loss", "w")))
    print("epoch", epoch, w)
""",
    restores=None,
)

SCRIPTS.add(
    "first_of_parameters",
    """
import time, torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
for epoch in range(3):
    for step in range(5):
        with torch.no_grad():
            for p in net.parameters():
                p.mul_(0.9)
        time.sleep(0.003)
+    print("PROBE", next(net.parameters()).dtype, next(net.named_parameters())[0], float(next(iter(net.parameters())).sum()))
    print("epoch", epoch)
""",
    exact=True,
)
