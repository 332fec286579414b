# florc: exact
import time
total, best = 0, None
for epoch in range(3):
    for step in range(4):
        time.sleep(0.01)
        total += step
-    best = total; print("epoch", epoch, best)  # kept
+    best = total; print("PROBE 1", best); print("PROBE 2"); print("epoch", epoch, best); print("PROBE 3", epoch)  # kept
