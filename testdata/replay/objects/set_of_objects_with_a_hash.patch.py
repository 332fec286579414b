# florc: restores = any
# florc: exact
import dataclasses, time
class Item:
    def __init__(self, key): self.key = key
    def __hash__(self): return self.key
    def __eq__(self, other): return self.key == other.key
queue, weight = set(), 1.0
for epoch in range(5):
    for step in range(6):
        time.sleep(0)
        queue.add(Item(epoch * 97 + step * 31))
    print(epoch)
+    print("PROBE", [item.key for item in queue], weight)
    weight = weight * 0.9 + queue.pop().key
print(weight)
