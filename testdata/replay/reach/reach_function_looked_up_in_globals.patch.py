# florc: restores = any
import time
total = [0]
def bump(x):
    total[0] += x
+    print("PROBE", total)
bump(2)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        globals()["bump"](i)
    print(epoch, total)
