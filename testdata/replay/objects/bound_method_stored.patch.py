# florc: restores = any
import time
log = []
push = log.append
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        push(i)
    print(len(log))
+    print("PROBE", log)
