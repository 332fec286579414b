import time
n = 0
for epoch in range(5):
    for i in range(3):
        time.sleep(0)
        n += 1
    print(epoch, n)
+    print("PROBE", n)
    if epoch == 3:
        raise RuntimeError("boom")
