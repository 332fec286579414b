import time
w, acc = 0, 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w += i
    for j in range(2):
        time.sleep(0)
        acc += w * j
+        print("PROBE", w, acc)
    print(w, acc)
