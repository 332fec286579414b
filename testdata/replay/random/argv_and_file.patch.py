# florc: arguments = ["3", "--lr", "0.1"]
import time, sys, os
n = int(sys.argv[1])
name = os.path.basename(__file__)
for epoch in range(n):
    for i in range(2):
        time.sleep(0)
        x = epoch * i
    print(name, sys.argv, x, __name__)
+    print("PROBE", name, sys.argv, x, __name__)
