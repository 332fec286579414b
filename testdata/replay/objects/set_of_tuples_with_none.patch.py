# florc: restores = any
import time
pairs = set()
for epoch in range(3):
    for step in range(5):
        time.sleep(0)
        pairs.add((None, step))
        pairs.add(("a", step))
    print(epoch)
+    print("PROBE", len(pairs))
