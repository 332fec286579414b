# florc: restores = any
# florc: exact
import time
d = {"a": 1}; rows = [1, 2, 3]
for e in range(3):
    for i in range(3):
        d[f"k{i}"] = e; time.sleep(0)
+        if i == 2: print("PROBE in", next(iter(d)), next((r for r in rows if r > 1), None))
+    print("PROBE", next(iter(rows)), next(r for r in rows if r > 1))
    print(e)
