import time
n = 0
for epoch in range(5):
    for i in range(3):
        time.sleep(0)
        n += 1
        if n == 8:
            raise RuntimeError("boom")
    print(epoch, n)
+    print("PROBE", n)
