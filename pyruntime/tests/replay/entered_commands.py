"""Programs that start in a library: a command line, a study of trials."""

from __future__ import annotations

LIVES_OUTSIDE = """
import time
import stand_ins
state = {"a": 0, "b": 0}
%s
def prepare():
    for i in range(4):
        for j in range(2):
            time.sleep(0.004)
            state["a"] += i * j
        print("prepared", state)
%s
"""

"""Programs whose training is run by a library, beside loops that are not."""

COMMANDS: dict[str, tuple[str, dict[str, int]]] = {
    "typer.run": (
        LIVES_OUTSIDE
        % (
            "",
            """
def main():
    for epoch in range(3):
+        print("PROBE", epoch, state)
        for i in range(3):
            time.sleep(0.004)
            state["b"] += i + epoch
        print(epoch, state)
+    print("PROBE end", state)
prepare()
stand_ins.run(main)
prepare()
""",
        ),
        {},
    ),
    "command of an application": (
        LIVES_OUTSIDE
        % (
            "app = stand_ins.Commands()",
            """
@app.command()
def main():
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.004)
            state["b"] += i + epoch
+            print("PROBE", epoch, i, state)
        print(epoch, state)
@app.command()
def other():
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.004)
            state["b"] += i + epoch
prepare()
app()
prepare()
""",
        ),
        {"L3": 1},
    ),
    "fire": (
        LIVES_OUTSIDE
        % (
            "import sys\nsys.argv = ['train.py', 'train']",
            """
def train():
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.004)
            state["b"] += i + epoch
        look(epoch)
def look(epoch):
    print(epoch, state)
+    print("PROBE", epoch, state)
look(-1)
prepare()
stand_ins.fire()
prepare()
""",
        ),
        {"L3": 1},
    ),
    "optuna": (
        LIVES_OUTSIDE
        % (
            "study = stand_ins.Study()",
            """
def objective(number):
    loss = 0
    for epoch in range(2):
        for i in range(3):
            time.sleep(0.004)
            loss += i * number + epoch
            state["b"] += 1
        print(number, epoch, loss)
+    print("PROBE", number, loss)
    return loss
prepare()
study.optimize(objective, 3)
for i in range(3):
    for j in range(2):
        time.sleep(0.004)
        state["b"] += i * j
    print(study.best, state)
""",
        ),
        {},
    ),
}
