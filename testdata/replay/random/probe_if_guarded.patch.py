import time
w = 0
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        w += i
    print(w)
+    if epoch % 2 == 0:
+        print("PROBE even", w)
+    elif epoch == 3:
+        print("PROBE three", w)
+    else:
+        pass
