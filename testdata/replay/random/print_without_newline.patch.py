import time
n = 0
for epoch in range(3):
    print("epoch", epoch, end=" ")
    for i in range(3):
        time.sleep(0)
        n += 1
        print(".", end="")
    print()
+    print("PROBE", n)
