import time, sys
n = 0
for epoch in range(5):
    for i in range(3):
        time.sleep(0)
        n += 1
        if n == 10:
            sys.exit("enough")
    print(n)
+    print("PROBE", n)
