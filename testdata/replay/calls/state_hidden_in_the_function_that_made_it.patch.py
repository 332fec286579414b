# florc: restores = any
import time
def make():
    seen = []
    def step(x):
        time.sleep(0)
        seen.append(x)
        return len(seen)
    return step
step = make()
for epoch in range(3):
    for i in range(3):
        n = step(i)
    print(epoch, n)
+    print("PROBE", n)
