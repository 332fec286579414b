# florc: restores = no
import csv, time
rows = csv.reader(["a", *map(str, range(30))])
next(rows)
for epoch in range(3):
    for _ in range(3):
        time.sleep(0)
        next(rows)
    row = next(rows)
    print(epoch)
+    print("PROBE", row, rows.line_num)
