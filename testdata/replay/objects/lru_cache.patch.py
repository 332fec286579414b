# florc: restores = any
import time, functools
@functools.lru_cache(maxsize=None)
def f(n):
    time.sleep(0)
    return n * 2
for epoch in range(3):
    for i in range(3):
        x = f(epoch + i)
    print(x)
+    print("PROBE", x, f.cache_info().misses)
