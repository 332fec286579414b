import time
class Saver:
    def __init__(self): self.best = None
    def __call__(self, state):
        if self.best is None or state["loss"] < self.best:
            self.best = state["loss"]
            state["saved"] = state.get("saved", 0) + 1
state = {"loss": 10}
callbacks = [Saver()]
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        state["loss"] -= 1 if i != 1 else -1
        for cb in callbacks:
            cb(state)
    print(state["loss"])
+    print("PROBE", state, callbacks[0].best)
