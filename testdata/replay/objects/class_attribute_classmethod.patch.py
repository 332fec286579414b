# florc: restores = any
import time
class Registry:
    items = {}
    @classmethod
    def put(cls, k, v):
        time.sleep(0)
        cls.items[k] = v
        cls.last = k
for epoch in range(3):
    for i in range(2):
        Registry.put(f"{epoch}{i}", i)
    print(len(Registry.items))
+    print("PROBE", Registry.items, Registry.last)
