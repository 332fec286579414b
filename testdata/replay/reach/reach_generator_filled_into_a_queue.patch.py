# florc: restores = any
import time
from collections import deque
def source(n):
    for i in range(n):
+        print("PROBE", n, i)
        yield i * n
class Feeder:
    def __init__(self):
        self.sources = deque()
    def draw(self):
        for value in self.sources.popleft():
            return value
feeder, total = Feeder(), 0
for epoch in range(3):
    for k in range(3):
        feeder.sources.append(source(epoch + k + 1))
    for i in range(3):
        time.sleep(0)
        total += feeder.draw()
    print(epoch, total)
