# florc: exact
import time
total = 0
for epoch in range(3):
    for step in range(4):
        time.sleep(0.01)
        total += step
-    if epoch: total += 1; print("more")
-    else: print("first")
+    if epoch: total += 1; print("PROBE a", total); print("more")
+    else: print("PROBE b", total); print("first")
-for _ in range(2): total += 1
+for _ in range(2): total += 1; print("PROBE c", total)
print("end", total)
