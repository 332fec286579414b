import time, random
rng = random.Random(5)
for epoch in range(3):
    s = 0.0
    for i in range(3):
        time.sleep(0)
        s += rng.random()
    print(s)
+    print("PROBE", s)
print(rng.random())
+print("PROBE", rng.getstate()[1][:2])
