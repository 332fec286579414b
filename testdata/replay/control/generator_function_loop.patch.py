# florc: restores = any
import time
def batches(n):
    for i in range(n):
        time.sleep(0)
        yield i
total = 0
for epoch in range(3):
    for b in batches(3):
        total += b
    print(total)
+    print("PROBE", total, b)
