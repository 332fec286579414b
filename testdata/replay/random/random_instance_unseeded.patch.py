import time, random
rng = random.Random()
for epoch in range(2):
    first = rng.random()
    for i in range(3):
        time.sleep(0)
        x = rng.random()
    print("TRUTH", x)
+    print("PROBE", x)
