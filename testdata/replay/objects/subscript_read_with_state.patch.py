# florc: restores = any
import time
class Data:
    def __init__(self): self.reads = 0
    def __getitem__(self, k):
        self.reads += 1
        return k
data = Data()
for epoch in range(3):
    s = 0
    for i in range(3):
        time.sleep(0)
        s += data[i]
    print(s, data.reads)
+    print("PROBE", data.reads)
