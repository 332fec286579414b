import time, random
random.seed(0)
hits = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        if random.random() < 0.5:
            hits += 1
    print(hits)
+    print("PROBE", hits)
+print("PROBE", random.random())
