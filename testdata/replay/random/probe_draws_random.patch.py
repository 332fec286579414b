# florc: flagged
import time, random
random.seed(0)
for epoch in range(3):
    s = 0
    for i in range(3):
        time.sleep(0)
        s += random.random()
    print(s)
+    print("PROBE", random.random())
