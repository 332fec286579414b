import time
a, b = [1], [2]
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        a, b = b, a
        a.append(epoch)
    print(a, b)
+    print("PROBE", a, b)
