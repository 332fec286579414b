"""What the recorder tests share: scripts in processes of their own, and reading what they left."""

import json
import subprocess
import sys
import textwrap
import time

from florc._native import RunReader

RUN = "20260101-120000-abc123"
MIB = 1 << 20


def python(store, body, **options):
    """Starts a script with a recorder `r` on `store`."""
    start = f"""
        import ctypes, os, resource, signal, subprocess, sys, threading, time
        from florc._native import Recorder
        RUN, MIB = {RUN!r}, 1 << 20
        r = Recorder({str(store)!r}, RUN, max_staging=256 * MIB)
        def submit(*leaves):
            return r.submit('{{"block": 1}}', b"graph", list(leaves))
    """
    script = textwrap.dedent(start) + textwrap.dedent(body)
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, **options)


def finish(process, timeout=60):
    """Standard output of a script that must succeed."""
    try:
        out, _ = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == 0, out
    return out


def until(condition, timeout=30):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("did not happen in time")


def gone(pid):
    """True once the process has ended, reaped or not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def checkpoints(store):
    reader = RunReader(store, RUN)
    found = [json.loads(payload) for kind, payload in reader.records() if kind == "checkpoint"]
    assert reader.damaged is None
    return reader, found


def read(reader, checkpoint):
    return [reader.read_chunk(chunk["hash"]) for chunk in checkpoint["chunks"]]
