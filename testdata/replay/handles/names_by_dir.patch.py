# florc: restores = any
import time
w = 0.0
for epoch in range(3):
    for step in range(5):
        w += step
        loss = [w]
        time.sleep(0)
+    print("PROBE", sorted(name for name in dir() if name in ("step", "loss", "w")))
    print("epoch", epoch, w)
