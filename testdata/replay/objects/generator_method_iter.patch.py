import time
class Loader:
    def __init__(self): self.served = 0
    def __iter__(self):
        for i in range(3):
            self.served += 1
            yield i
loader = Loader()
n = 0
for epoch in range(3):
    for x in loader:
        time.sleep(0)
        n += x
    print(n)
+    print("PROBE", n, loader.served)
