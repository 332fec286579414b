# florc: restores = any
import time
def put(k, v):
    globals()[k] = v
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        put(f"g{i}", epoch)
    print(g1)
+    print("PROBE", g0, g1)
