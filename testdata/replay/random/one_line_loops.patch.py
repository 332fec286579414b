import time
w = 0
for epoch in range(3):
    for i in range(2): w += i; time.sleep(0)
    print(w)
+    print("PROBE", w)
for i in range(3): w += 1; time.sleep(0)
print(w)
+print("PROBE", w)
