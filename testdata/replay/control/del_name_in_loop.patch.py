# florc: restores = any
import time
tmp = "outer"
for epoch in range(3):
    tmp = epoch
    for i in range(2):
        time.sleep(0)
        x = tmp
    del tmp
    print(x)
+    print("PROBE", x, "tmp" in globals())
