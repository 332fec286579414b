# florc: restores = any
import time
def step(i):
    time.sleep(0)
    step.calls = getattr(step, "calls", 0) + 1
    return step.calls * i
for epoch in range(3):
    for i in range(3):
        r = step(i)
    print(r)
+    print("PROBE", r, step.calls)
