import time
log = []
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        list(map(log.append, range(i + 1)))
    print(len(log))
+    print("PROBE", log)
