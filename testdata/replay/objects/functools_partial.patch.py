# florc: restores = any
import time, functools
log = []
def add(store, x):
    store.append(x)
    return len(store)
push = functools.partial(add, log)
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        n = push(i)
    print(n)
+    print("PROBE", log)
