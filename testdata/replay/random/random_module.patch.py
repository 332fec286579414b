import time, random
random.seed(3)
for epoch in range(3):
    s = 0.0
    for i in range(3):
        time.sleep(0)
        s += random.random()
    print(round(s, 6), round(random.gauss(0, 1), 6))
+    print("PROBE", s, random.getstate()[1][:3])
print(random.random())
