import time
import config
from config import table as t
for epoch in range(3):
    for i in range(4):
        time.sleep(0)
        config.rate *= 0.5
        config.fresh = (epoch, i)
        t[i] = t.get(i, 0) + epoch
    print(epoch)
+    print("PROBE", config.rate, config.fresh, sorted(config.table.items()), t is config.table)
=== config.py
rate = 1.0
table = {}
