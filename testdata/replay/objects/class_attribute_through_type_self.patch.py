# florc: restores = any
import time
class Counter:
    total = 0
    seen = []
    def hit(self, i):
        time.sleep(0)
        type(self).total += 1
        self.seen.append(i)
c = Counter()
for epoch in range(3):
    for i in range(3):
        c.hit(i)
    print(Counter.total, len(Counter.seen))
+    print("PROBE", Counter.total, Counter.seen)
