# florc: restores = any
import time
import atexit
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        if epoch == 0:
            atexit.register(print, 'bye', i)
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, total)
    print("epoch", epoch, total)
+print("PROBE end", total)
