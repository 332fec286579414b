import time
stamps = []
for epoch in range(2):
    for i in range(3):
        time.sleep(0)
        stamps.append(time.time())
    print("TRUTH", stamps[-1])
+    print("PROBE", stamps[-1])
