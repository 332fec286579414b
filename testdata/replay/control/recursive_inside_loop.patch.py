import time
def count(n):
    total = 0
    for i in range(n):
        time.sleep(0)
        total += 1 + count(i)
    return total
for epoch in range(3):
    c = count(epoch + 1)
    print(c)
+    print("PROBE", c)
