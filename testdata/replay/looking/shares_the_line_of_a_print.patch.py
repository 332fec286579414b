# florc: exact
# florc: why = A statement in front of another one on its line: only the added one is answered, and the other one is compared.
import time
total = 0
for epoch in range(3):
    for step in range(4):
        time.sleep(0.01)
        total += step
-    print("epoch", epoch, total)
+    print("PROBE", total * 2); print("epoch", epoch, total)
