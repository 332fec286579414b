import time
for epoch in range(4):
    for i in range(10):
        time.sleep(0)
        if i > epoch:
            break
    print(epoch, i)
+    print("PROBE", epoch, i)
