# florc: restores = any
import time
ns = {"n": 0}
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        exec("n += 1", ns)
    print(ns["n"])
+    print("PROBE", ns["n"])
