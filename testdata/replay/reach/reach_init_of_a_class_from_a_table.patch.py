# florc: restores = any
import time
made = []
class Item:
    def __init__(self, n):
        self.n = n
        made.append(n)
+        print("PROBE", n, len(made))
KINDS = {"item": Item}
first = Item(0)
for epoch in range(3):
    items = []
    for i in range(3):
        time.sleep(0)
        items.append(KINDS["item"](i))
    print(epoch, len(items), made)
