import importlib
def step(model, name):
    from ops import scale
    plugin = importlib.import_module("plugins." + name)
    for i in range(3):
        scale(model)
        plugin.apply(model)
model = {"w": 1.0, "n": 0}
for epoch in range(3):
    step(model, "one" if epoch % 2 else "two")
    print(epoch)
+    print("PROBE", model)
=== ops.py
import time
def scale(model):
    time.sleep(0)
    model["w"] *= 1.5
=== plugins/one.py
COUNT = []
def apply(model):
    model["n"] += 1
    COUNT.append(model["n"])
=== plugins/two.py
def apply(model):
    model["n"] += 10
