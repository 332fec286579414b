import time
class Best:
    state = None
best = {"score": -1, "state": None}
cur = {"w": 0}
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        cur = {"w": cur["w"] + 1}
    if cur["w"] % 2:
        best = {"score": cur["w"], "state": cur}
    print(best["score"])
+    print("PROBE", best, best["state"] is cur)
