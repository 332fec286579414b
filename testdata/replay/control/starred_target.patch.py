import time
rows = [(1, 2, 3), (4, 5, 6, 7)]
for epoch in range(2):
    for first, *rest in rows:
        time.sleep(0)
        rest.append(epoch)
    print(first, rest)
+    print("PROBE", first, rest)
