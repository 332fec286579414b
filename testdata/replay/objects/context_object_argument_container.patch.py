# florc: restores = any
import time
ctx = {"parts": [[], []]}
def touch(c, k):
    time.sleep(0)
    part = c["parts"][k]
    part.append(k)
    return part
for epoch in range(3):
    for i in range(2):
        p = touch(ctx, i)
    print(ctx)
+    print("PROBE", ctx, p is ctx["parts"][1])
