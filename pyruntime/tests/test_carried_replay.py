"""What added statements read of an earlier iteration: a replay of a part of the run prints what a plain run of them prints."""

from __future__ import annotations

import pytest
from test_parallel_replay import probes_of, record, replay, version
from workshop import Workshop

HEAD = """
    import time
    import numpy as np
    w = np.ones(5000)
    def learn(x):
        w[:] = w * 0.99 + x / 100
        time.sleep(0.004)
    class Optimizer:
        def step(self, x): learn(x)
    optimizer = Optimizer()
"""
SCRIPTS = {
    "an epoch without a step": HEAD
    + """
    for epoch in range(5):
        for i in range(4):
            if epoch == 3: continue
            out = w * i
            optimizer.step(i)
        print(epoch, w.sum())
    +   print("PROBE", epoch, out.sum())
    """,
    "a header that reads": HEAD
    + """
    out = [1.0]
    for epoch in range(5):
    +   print("PROBE", epoch, sum(out))
        for i in range(4):
            out = w * i
            optimizer.step(i)
        print(epoch, w.sum())
    """,
    "a hook": HEAD
    + """
    +seen = []
    +def see(x): seen.append(x)
    hooks = {"see": print}
    +keep = lambda x: seen.append(x)
    for epoch in range(5):
        for i in range(4):
            optimizer.step(i)
    +   keep(w.sum())
        print(epoch, w.sum())
    +   print("PROBE", epoch, sum(seen))
    """,
    "an alias": HEAD
    + """
    +seen = []
    for epoch in range(5):
        for i in range(4):
            optimizer.step(i)
    +   them = seen
    +   them.append(w.sum())
        print(epoch, w.sum())
    +   print("PROBE", epoch, len(seen), seen)
    """,
    "what one loop leaves another": HEAD
    + """
    for i in range(20):
        out = w * i
        optimizer.step(i)
    for epoch in range(5):
        for i in range(4):
            optimizer.step(i)
        print(epoch, w.sum())
    +   print("PROBE", epoch, out.sum())
    """,
    "both branches": HEAD
    + """
    for epoch in range(5):
        for i in range(4):
            if i: out = w * i
            else: out = w * epoch
            optimizer.step(i)
        print(epoch, w.sum())
    +   print("PROBE", epoch, out.sum())
    """,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_as_a_plain_run_prints(name: str, workshop: Workshop) -> None:
    script = SCRIPTS[name]
    record(workshop, script, "--checkpoint", "every")
    workshop.write("train.py", version(script, probes_of(script)))
    every = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    done = replay(workshop, "--iterations", "epoch=3")
    assert (done.out.splitlines(), done.code) == (every[3:4], 0), done.said
