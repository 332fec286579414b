# florc: restores = no
import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w += i
+        print("PROBE inner", w)
    print(w)
+    print("PROBE outer", w)
