"""A recorded script is killed at a time of chance: what was recorded until then is answered right, and nothing else is.

`FLORC_TORTURE=1` (`make torture`) kills 300 times: numpy, scikit-learn and torch, 100 times each.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from workshop import Workshop

HEAD = "import sys, time\n"
LOOP = """
for epoch in range(12):
    for step in range(6):
        train(step)
        time.sleep(0.004)
    #PROBE
    print("epoch", epoch, value(), flush=True)
"""
SCRIPTS = {
    "numpy": """
import numpy as np
rng = np.random.default_rng(0)
w = rng.normal(size=(40, 40)); momentum = np.zeros_like(w); seen = {}
def train(step):
    global momentum
    momentum = 0.9 * momentum + rng.normal(size=w.shape) * 0.01
    w.__isub__(momentum); seen[step] = seen.get(step, 0) + float(w[0, 0])
def value(): return float(w.sum()), len(seen)
""",
    "sklearn": """
import numpy as np
from sklearn.linear_model import SGDClassifier
rng = np.random.default_rng(1)
x = rng.normal(size=(600, 8)); y = (x.sum(axis=1) > 0).astype(int)
model = SGDClassifier(random_state=0)
def train(step): model.partial_fit(x[step::6], y[step::6], classes=[0, 1])
def value(): return float(model.coef_.sum()), float(model.intercept_[0])
""",
    "torch": """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.2), torch.nn.ReLU(), torch.nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters())
def train(step):
    opt.zero_grad(); loss = net(torch.randn(16, 8)).pow(2).mean(); loss.backward(); opt.step()
def value(): return float(sum(p.sum() for p in net.parameters()))
""",
}
PROBE = 'print("PROBE", epoch, repr(value()))'


def _probes(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("PROBE")]


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_kill_at_any_time(kind: str, workshop: Workshop) -> None:
    text = HEAD + SCRIPTS[kind] + LOOP
    workshop.write("train.py", text.replace("#PROBE", PROBE))
    truth = _probes(workshop.plain("train.py").out)
    assert len(truth) == 12
    chance, kills = random.Random(kind), 100 if os.environ.get("FLORC_TORTURE") else 2
    for number in range(kills):
        workshop.write("train.py", text)
        process = workshop.start(os.fspath(Path(os.sys.executable)), "-m", "florc", "record", "--checkpoint", "every", "train.py")  # type: ignore[attr-defined]
        try:
            last = chance.randrange(12)
            for line in process.stdout:  # type: ignore[union-attr]
                if line.startswith(f"epoch {last} "):
                    break
            time.sleep(chance.random() * 0.04)
        finally:
            process.kill()
            process.communicate()
        workshop.write("train.py", text.replace("#PROBE", PROBE))
        checked = workshop.florc("check", "--read-data")
        assert "Traceback" not in checked.err and checked.code in (0, 1), (number, checked)
        done = workshop.florc("replay", "train.py")
        answers = _probes(done.out)
        assert "Traceback" not in done.err and done.code == 0, (number, last, done)
        assert answers == truth[: len(answers)] and len(answers) >= last, (number, last, done)
