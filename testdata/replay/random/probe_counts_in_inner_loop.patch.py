# florc: restores = any
import time
+calls = 0
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w += i
+        calls += 1
    print(w)
+print("PROBE", calls)
