# florc: restores = any
import time
for epoch in range(3):
    big = [epoch] * 3
    s = 0
    for i in range(2):
        time.sleep(0)
        if i == 0:
            s = sum(big)
            del big
    print(s)
+    print("PROBE", s, "big" in globals())
