import time
w = ""
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        w += "\u00e9\u4e2d"
    print(w, "\r x")
+    print("PROBE", w)
