import time
w = []
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w.append(i)
    print(len(w))
+    import statistics
+    mean = statistics.fmean(w)
+    spread = max(w) - min(w)
+    print("PROBE", mean, spread)
