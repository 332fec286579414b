# florc: hash_seed = 3
import time
bag = set()
for epoch in range(3):
    for i in range(6):
        time.sleep(0)
        bag.add((i * 1009 + epoch * 31) % 97 * 8)
        if i == 4:
            bag.discard(epoch * 31 % 97 * 8)
    first = next(iter(bag))
    print(first)
+    print("PROBE", list(bag))
    bag.pop()
