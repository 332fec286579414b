import time
def find(rows, wanted):
    where = None
    for r, row in enumerate(rows):
        for c, x in enumerate(row):
            time.sleep(0)
            if x == wanted:
                where = r, c
                break
        if where:
            break
    return where
for epoch in range(3):
    spot = find([[1, 2], [3, 4], [5, 6]], 2 * epoch + 2)
    print(spot)
+    print("PROBE", spot)
