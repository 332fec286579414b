# florc: exact
import time
total = 0
for epoch in range(3):
    for step in range(4):
        time.sleep(0.01)
        total += step
+    if epoch % 2 == 0: print("PROBE", total); print("PROBE", epoch)
+    for name in ("a", "b"): print("PROBE", name)
    print("epoch", epoch, total)
