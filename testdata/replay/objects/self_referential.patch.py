import time
a = []
a.append(a)
d = {}
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        a.append(i)
        d["self"] = d
        d[i] = a
    print(len(a))
+    print("PROBE", a[0] is a, d["self"] is d, d[0] is a, len(a))
