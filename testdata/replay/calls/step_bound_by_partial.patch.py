import time
from functools import partial
def step(log, table, x):
    time.sleep(0)
    log.append(x)
    table[x] = len(log)
log, table = [], {}
bound = partial(step, log, table)
for epoch in range(3):
    for i in range(3):
        bound(i + epoch)
    print(epoch, log)
+    print("PROBE", log, table)
