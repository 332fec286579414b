import time
x = "start"
for epoch in range(4):
    for i in range(2 if epoch % 2 else 0):
        time.sleep(0)
        x = (epoch, i)
    print(epoch, x)
+    print("PROBE", x)
