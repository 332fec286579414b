# florc: restores = any
import time
class Item:
    def __init__(self, n):
        self.n = n
+        print("PROBE", n)
def make(cls, i):
    return cls(i)
first, total = Item(0), 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        total += make(Item, i).n
    print(epoch, total)
