# florc: unsure
import time
class Item:
    def __init__(self, key): self.key = key
pool = set()
for epoch in range(3):
    for step in range(6):
        time.sleep(0)
        pool.add(Item(step + epoch))
    print(epoch)
+    print("PROBE", epoch, sorted(item.key for item in pool))
