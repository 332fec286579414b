# florc: restores = any
import time
def remember(x, seen=[]):
    time.sleep(0)
    seen.append(x)
    return len(seen)
for epoch in range(3):
    for i in range(2):
        n = remember(i)
    print(n)
+    print("PROBE", n, remember.__defaults__)
