# florc: restores = any
import time
log = []
def logged(f):
    def inner(x):
        log.append(x)
        return f(x)
    return inner
@logged
def work(i):
    time.sleep(0)
    return i + 1
y = 0
for epoch in range(3):
    for i in range(3):
        y = work(y)
    print(y)
+    print("PROBE", y, log)
