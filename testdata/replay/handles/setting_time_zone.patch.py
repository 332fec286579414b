# florc: restores = any
import time
import os
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        os.environ['TZ'] = 'EST5EDT' if i % 2 == 0 else 'UTC'; time.tzset()
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, time.tzname)
    print("epoch", epoch, total)
+print("PROBE end", time.tzname)
