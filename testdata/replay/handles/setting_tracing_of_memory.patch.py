# florc: restores = any
import time
import tracemalloc, faulthandler
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        tracemalloc.start() if i == 1 else None; faulthandler.enable()
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, tracemalloc.is_tracing(), faulthandler.is_enabled())
    print("epoch", epoch, total)
+print("PROBE end", tracemalloc.is_tracing(), faulthandler.is_enabled())
