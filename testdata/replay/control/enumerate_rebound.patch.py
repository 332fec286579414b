# florc: restores = any
import time
data = [5, 6, 7]
for epoch in range(3):
    it = enumerate(data)
    for i, x in it:
        time.sleep(0)
        y = i * x + epoch
    print(y)
+    print("PROBE", i, x, y)
