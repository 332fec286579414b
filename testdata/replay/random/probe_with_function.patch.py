import time
w = []
+def describe(values):
+    total = sum(values)
+    return f"{total} of {len(values)}"
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w.append(i)
    print(len(w))
+    print("PROBE", describe(w))
