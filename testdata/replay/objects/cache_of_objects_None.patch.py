# florc: restores = any
import functools, time
@functools.lru_cache(maxsize=None)
def meter(name):
    return [name]
total = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        total += len(meter("a"))
        meter("a").append(i)
    print(total)
+    print("PROBE", meter("a"))
