import time
total = 0
for epoch in range(3):
    for i in range(4):
        time.sleep(0)
        total += i * epoch
    print("epoch", epoch, total)
+    print("PROBE", epoch, total)
