# florc: restores = any
import time
class Counter:
    total = 0
    def hit(self):
        time.sleep(0)
        Counter.total += 1
c = Counter()
for epoch in range(3):
    for i in range(3):
        c.hit()
    print(Counter.total)
+    print("PROBE", Counter.total)
