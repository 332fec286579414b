# florc: restores = no
import time
from itertools import cycle
endless = cycle([1, 2, 3, 5, 7])
total = 0
for epoch in range(3):
    pairs = zip(range(3), endless)
    for i, x in pairs:
        time.sleep(0)
        total += x
    print(epoch, total, next(endless))
+    print("PROBE", total)
