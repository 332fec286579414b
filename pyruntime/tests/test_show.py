"""`florc show`: what it says of a run is what the run and its journal have."""

from __future__ import annotations

import json

from workshop import Workshop

SCRIPT = """
    import sys, time
    class Model:
        total = 0
        def step(self):
            self.total += 1
            time.sleep(0.001)
    model = Model()
    for epoch in range(4):
        for step in range(3):
            model.step()
        print("loss", 1 / model.total)
"""


def test_a_run_is_shown_with_its_loops_and_what_was_asked(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "--checkpoint", "every", "--name", "first", "train.py", "--rate", "a b")
    workshop.florc("ask", "train.py", "--inside", "9", "model.total")
    found = json.loads(workshop.florc("show", "--json").out)
    listed = json.loads(workshop.florc("runs", "--json").out)
    assert (found["id"], found["name"], found["status"]) == (listed["id"], "first", "ok")
    assert (found["arguments"], found["checkpoints"]) == (["--rate", "a b"], 4)
    loops = {loop["loop"]: loop for loop in found["loops"]}
    assert loops["L1"]["iterations"] == 4 and not loops["L1"]["memoized"]
    assert (loops["L2"]["checkpoints"], loops["L2"]["line"], loops["L2"]["header"]) == (4, 9, "for step in range(3)")
    (asked,) = found["asked"]
    assert (asked["names"], asked["values"], asked["verdict"]) == (["model.total"], 12, "exact")
    shown = workshop.florc("show", "first").out
    assert "train.py --rate 'a b'" in shown and "model.total (12 values): exact" in shown, shown
    assert workshop.florc("show", "train.py").out == shown
    missing = workshop.florc("show", "nothing")
    assert (missing.code, missing.out) == (2, "") and "[F201]" in missing.said
