# florc: restores = any
import time, functools
def counted(f):
    @functools.wraps(f)
    def wrapper(*a):
        wrapper.calls += 1
        return f(*a)
    wrapper.calls = 0
    return wrapper
@counted
def work(i):
    time.sleep(0)
    return i
for epoch in range(3):
    for i in range(3):
        r = work(i)
    print(r, work.calls)
+    print("PROBE", work.calls)
