# florc: restores = any
import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w += i
    loss = 0
    for j in range(2):
        time.sleep(0)
        loss += w * j
    print(epoch, loss)
+    print("PROBE", w, loss, i, j)
