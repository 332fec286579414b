# florc: restores = any
import time
import registry
counts = {"a": 0}
@registry.register
def bump(x):
    counts["a"] += x
for epoch in range(3):
    for i in range(4):
        time.sleep(0)
        registry.fire(i)
    print(epoch)
+    print("PROBE", counts, registry.fired)
=== registry.py
handlers = []
fired = 0
def register(f):
    handlers.append(f)
    return f
def fire(x):
    global fired
    fired += 1
    for h in handlers:
        h(x)
