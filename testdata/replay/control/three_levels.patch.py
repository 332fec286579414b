# florc: restores = any
import time
grid = []
for fold in range(2):
    row = []
    for epoch in range(3):
        s = 0
        for i in range(3):
            time.sleep(0)
            s += fold * epoch + i
        row.append(s)
+        print("PROBE", fold, epoch, s)
    grid.append(row)
    print(fold, row)
+print("PROBE", grid)
