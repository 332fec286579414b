import time
def run(n, acc):
    for i in range(n):
        time.sleep(0)
        acc.append(i)
    return sum(acc)
a, b = [], []
for epoch in range(3):
    x = run(2, a)
    y = run(3, b)
    print(epoch, x, y)
+    print("PROBE", x, y, a, b)
