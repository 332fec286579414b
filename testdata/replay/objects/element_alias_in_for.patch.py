import time
rows = [{"n": 0}, {"n": 10}]
for epoch in range(3):
    for i in range(2):
        for row in rows:
            time.sleep(0)
            row["n"] += 1
    print(rows)
+    print("PROBE", rows)
