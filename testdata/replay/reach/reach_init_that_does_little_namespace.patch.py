# florc: restores = any
import time
class Item:
    def __init__(self, n):
        self.n = n
+        print("PROBE", n)
import types; kinds = types.SimpleNamespace(Item=Item)
first, total = Item(0), 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        total += kinds.Item(i).n
    print(epoch, total)
