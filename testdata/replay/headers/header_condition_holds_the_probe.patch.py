# florc: restores = any
import time
state = {"left": 0, "sum": 0}
def more():
    state["left"] -= 1
+    print("PROBE", state)
    return state["left"] > 0
for epoch in range(3):
    state["left"] = 4
    while more():
        time.sleep(0)
        state["sum"] += state["left"]
    print(epoch, state["sum"])
