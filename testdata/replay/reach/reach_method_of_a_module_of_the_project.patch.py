# florc: restores = any
import time
import steps as s
s.update(s.STATE, 5)
table = {"a": s.update}
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        table["a"](s.STATE, i)
    print(epoch, s.STATE)
=== steps.py
STATE = {"n": 0}
def update(state, x):
    state["n"] += x
+    print("PROBE", state)
