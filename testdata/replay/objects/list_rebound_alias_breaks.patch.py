import time
a = [0]
b = a
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        a = a + [i]
    print(len(a))
+    print("PROBE", a, b, a is b)
