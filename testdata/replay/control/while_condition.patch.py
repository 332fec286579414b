import time
n = 27
steps = 0
epoch = 0
while n != 1 and epoch < 6:
    epoch += 1
    for _ in range(3):
        time.sleep(0)
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    print(epoch, n)
+    print("PROBE", n, steps)
