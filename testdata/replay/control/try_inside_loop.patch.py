# florc: restores = any
import time
bad = 0
for epoch in range(3):
    for i in range(4):
        time.sleep(0)
        try:
            x = 1 / (i - epoch)
        except ZeroDivisionError:
            bad += 1
            continue
        finally:
            seen = (epoch, i)
    print(epoch, bad)
+    print("PROBE", bad, x, seen)
