import time
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w += i
    print(w)
+    assert w < 100, "PROBE"
+    print("PROBE", w)
