# florc: restores = any
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
def work(k, x):
    time.sleep(0)
+    print("PROBE", k, x)
    return k * x
work(1, 1)
totals = []
with ThreadPoolExecutor(1) as pool:
    for epoch in range(3):
        for i in range(3):
            totals.append(sum(pool.map(partial(work, i), range(3))))
        print(epoch, totals)
