import time
pool = [[0], [1], [2]]
best = pool[0]
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        pool[i].append(epoch)
        if i == epoch:
            best = pool[i]
    print(best)
+    print("PROBE", [p is best for p in pool])
