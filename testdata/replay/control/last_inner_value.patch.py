# florc: restores = any
import time
for epoch in range(3):
    for i in range(4):
        time.sleep(0)
        loss = 1 / (1 + epoch * 4 + i)
    print("epoch", epoch)
+    print("PROBE", loss, i)
