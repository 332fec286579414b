import time
n = 0
for epoch in range(3):
    print("epoch", epoch, end="\n")
    for i in range(3):
        time.sleep(0)
        n += 1
+    print("PROBE", n)
    print("a", end="")
+    print("PROBE", epoch) if False else None
    print("b")
