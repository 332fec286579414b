# florc: restores = any
import time
class Data:
    def __init__(self): self.reads = 0
    def __len__(self): return 3
    def __getitem__(self, k):
        if k >= 3: raise IndexError
        self.reads += 1
        return k
data = Data()
for epoch in range(3):
    for x in data:
        time.sleep(0)
        y = x
    z = data[1]
    print(data.reads)
+    print("PROBE", data.reads)
