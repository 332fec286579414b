import time
class Loader:
    def __init__(self): self.epoch = 0
    def __iter__(self):
        self.epoch += 1
        return iter(range(self.epoch))
loader = Loader()
n = 0
for epoch in range(3):
    for x in loader:
        time.sleep(0)
        n += x
    print(n)
+    print("PROBE", n, loader.epoch)
