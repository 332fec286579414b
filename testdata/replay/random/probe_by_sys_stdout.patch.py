import time, sys
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        n += 1
    print(n)
+    sys.stdout.write(f"PROBE {n}\n")
+    print("PROBE", "second", flush=True)
