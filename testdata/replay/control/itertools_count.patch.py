# florc: restores = any
import time, itertools
counter = itertools.count()
for epoch in range(3):
    for _ in range(3):
        time.sleep(0)
        n = next(counter)
    print(n)
+    print("PROBE", n)
