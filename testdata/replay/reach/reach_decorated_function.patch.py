# florc: restores = any
import functools, time
def logged(f):
    @functools.wraps(f)
    def inner(*args):
+        print("PROBE in", args)
        out = f(*args)
        calls.append(out)
        return out
    return inner
calls = []
@logged
def square(x):
+    print("PROBE square", x)
    return x * x
square(3)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        square(i)
    print(epoch, calls)
