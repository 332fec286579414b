import time
n = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        loss = epoch * i
        n += loss
    del loss, i
    print(n)
+    print("PROBE", n)
