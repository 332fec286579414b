import time, random
random.seed(1)
order = list(range(6))
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        random.shuffle(order)
    print(order[0])
+    print("PROBE", order)
