import time
def grow(row):
    row.append(len(row))
rows, sums, names = [[], [1]], [0], ["b", "a"]
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        list(map(grow, rows))
        list(map(lambda row: row.reverse(), rows))
        sorted(names, key=lambda name: sums.append(i) or name)
    print(epoch, rows, sums)
+    print("PROBE", rows, sums)
