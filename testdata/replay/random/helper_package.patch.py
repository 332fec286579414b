# florc: restores = any
from pkg.train import fit
from pkg import state
for epoch in range(3):
    for i in range(3):
        fit(i)
    print(state.best)
+    print("PROBE", state.best)
=== pkg/__init__.py
=== pkg/state.py
best = -1
=== pkg/train.py
import time
from . import state
def fit(i):
    time.sleep(0)
    state.best = max(state.best, i * 3)
