# florc: restores = any
import time
def fib(n, cache={}):
    time.sleep(0)
    if n not in cache:
        cache[n] = n if n < 2 else fib(n - 1) + fib(n - 2)
    return cache[n], len(cache)
def fib(n, cache={}):
    time.sleep(0)
    if n not in cache:
        cache[n] = n if n < 2 else fib(n - 1)[0] + fib(n - 2)[0]
    return cache[n], len(cache)
out = None
for epoch in range(3):
    for i in range(4):
        out = fib(epoch * 2 + i)
    print(out)
+    print("PROBE", out)
last = fib(20)
print(last)
+print("PROBE", last)
