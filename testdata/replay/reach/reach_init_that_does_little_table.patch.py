# florc: restores = any
import time
class Item:
    def __init__(self, n):
        self.n = n
+        print("PROBE", n)
KINDS = {"item": Item}
first, total = Item(0), 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        total += KINDS["item"](i).n
    print(epoch, total)
