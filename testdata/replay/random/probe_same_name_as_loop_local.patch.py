# florc: restores = any
import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        tmp = i * 2
        w += tmp
    print(w)
+    tmp = w + 100
+    print("PROBE", tmp)
