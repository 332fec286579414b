import time, warnings
w = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        warnings.warn("careful")
        w += 1
    print(w)
+    print("PROBE", w)
