import time
total, seen = 0, []
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i
+    if epoch % 2 == 0:
+        print("PROBE", epoch, total)
    if epoch % 2 == 0:
        print("even", total / 7)
+    for j, v in enumerate(seen):
+        print("PROBE", j, v)
    for j, v in enumerate(seen):
        seen[j] = v + 1
    seen.append(total)
    print(epoch, seen)
