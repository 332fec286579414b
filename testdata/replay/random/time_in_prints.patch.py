import time
start = time.time()
for epoch in range(2):
    for i in range(3):
        time.sleep(0)
        x = i * epoch
    print("TRUTH", x)
+    print("PROBE", x)
    print("took", time.time() - start)
