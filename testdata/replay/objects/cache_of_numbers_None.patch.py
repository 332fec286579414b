import functools, time
@functools.lru_cache(maxsize=None)
def square(x):
    return x * x
total = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        total += square(i + epoch)
    print(total)
+    print("PROBE", total, square(2))
