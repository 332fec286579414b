import time
n = 0
for epoch in range(4):
    if epoch % 2 == 0:
        for i in range(3):
            time.sleep(0)
            n += 1
    else:
        for j in range(2):
            time.sleep(0)
            n += 10
    print(n)
+    print("PROBE", n)
