import time
w = 0
for epoch in range(3):
+    print("PROBE before", w)
    for i in range(3):
        time.sleep(0)
        w += i
+    print("PROBE middle", w)
    print(w)
+    print("PROBE after", w)
+print("PROBE end", w)
