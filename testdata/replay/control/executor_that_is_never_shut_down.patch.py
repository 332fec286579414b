import time
from concurrent.futures import ThreadPoolExecutor
pool, total = ThreadPoolExecutor(2), 0
for epoch in range(3):
    for step in range(3):
        time.sleep(0)
        total += step
    print(epoch, pool.submit(pow, 2, total).result())
+    print("PROBE", total)
