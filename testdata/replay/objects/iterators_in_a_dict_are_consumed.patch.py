# florc: restores = any
import time
def cycle(items):
    while True:
        for item in items:
            yield item
streams = {"a": cycle([1, 2, 3]), "b": cycle([5, 7])}
total = 0
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += next(streams["b" if i == 2 else "a"])
    x = next(streams["a"])
+    print("PROBE", total, x)
