# florc: restores = any
import time
def make(store):
    def cb(x):
        store.append(x)
        return x + 1
    return cb
store = []
cb = make(store)
y = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        y = cb(y)
    print(y)
+    print("PROBE", y, store)
