import time
w = 1
def a(i):
    time.sleep(0)
    return i * 2
def b(i):
    time.sleep(0)
+    print("PROBE", i, w)
    return i * 3
for epoch in range(3):
    for i in range(3):
        w += a(i)
    for i in range(2):
        w += b(i)
    print(w)
