# florc: restores = any
import time, math
ops = {}
def double(x): return 2 * x
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        ops = {"f": double, "m": math.sin, "t": int, "k": epoch}
    print(len(ops))
+    print("PROBE", ops["f"] is double, ops["m"] is math.sin, ops["t"], ops["k"])
