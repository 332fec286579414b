# florc: exact
import time
from itertools import islice
stream = iter(range(100))
sums = []
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        sums.append(sum(islice(stream, 3)))
    print(epoch, sums)
+    print("PROBE", sums)
