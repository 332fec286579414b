import time
state = {"w": 0, "log": []}
def finish():
    time.sleep(0)
    state["w"] += 1
    state["log"].append(state["w"])
for epoch in range(3):
    for i in range(3):
        finish()
    print(state["w"])
+    print("PROBE", state)
