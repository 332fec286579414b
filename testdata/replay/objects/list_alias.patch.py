import time
a = []
b = a
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        a.append(i)
    print(len(b))
+    print("PROBE", b, a is b)
