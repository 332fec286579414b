import time, random
for epoch in range(3):
    s = 0.0
    for i in range(3):
        time.sleep(0)
        s += random.random()
    print("TRUTH", s)
+    print("PROBE", s)
x = random.random()
print("TRUTH", x)
+print("PROBE", x)
