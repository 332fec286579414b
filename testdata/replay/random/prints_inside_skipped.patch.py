import time
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        n += 1
        print("step", n)
    print("epoch", epoch)
+    print("PROBE", n)
