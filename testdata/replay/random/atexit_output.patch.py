import time, atexit
n = 0
atexit.register(lambda: print("bye", n))
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        n += 1
    print(n)
+    print("PROBE", n)
