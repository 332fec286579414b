# florc: restores = any
import time
seen = []
def square(x):
    seen.append(x)
+    print("PROBE", x, len(seen))
    return x * x
total = 0
for epoch in range(3):
    for x in [square(i) for i in range(3)]:
        time.sleep(0)
        total += x
    print(epoch, total)
print(seen)
