# florc: restores = any
import time
class Feed:
    def __init__(self):
        self.drawn = 0
    def batches(self):
        for i in range(3):
            self.drawn += i
+            print("PROBE", i, self.drawn)
            yield i
feed, total = Feed(), 0
for epoch in range(3):
    for k, x in enumerate(feed.batches()):
        time.sleep(0)
        total += x + k
    print(epoch, total)
print(feed.drawn)
