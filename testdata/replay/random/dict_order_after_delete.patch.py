import time
d = {"a": 1, "b": 2, "c": 3}
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        k = "abc"[(i + epoch) % 3]
        d[k] = d.pop(k, 0) + 1
    print(list(d))
+    print("PROBE", list(d.items()))
