# florc: restores = any
import time
def rows(n):
    found = []
    for i in range(3):
        found.append(i * n)
+    print("PROBE", found)
    return found
total = []
for epoch in range(3):
    for x in rows(epoch):
        time.sleep(0)
        total.append(x)
    print(epoch, total)
