# florc: flagged
import time
it = iter(range(100))
for epoch in range(3):
    for _ in range(3):
        time.sleep(0)
        x = next(it)
    print(x)
+    print("PROBE", x, next(it))
