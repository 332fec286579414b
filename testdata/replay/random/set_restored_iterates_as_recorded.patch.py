# florc: hash_seed = 3
import time
bag = set()
for epoch in range(3):
    for i in range(6):
        time.sleep(0)
        bag.add(f"w{(i * 7 + epoch * 3) % 23}")
    print(list(bag))
+    print("PROBE", list(bag))
