# florc: restores = any
import time
fs = []
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        fs.append(lambda k=i: k * 10)
    print(len(fs))
+    print("PROBE", [f() for f in fs])
