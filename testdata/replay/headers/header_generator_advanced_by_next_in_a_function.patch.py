# florc: restores = any
import time
def endless():
    n = 0
    while True:
        n += 1
+        print("PROBE", n)
        yield n
def step(totals, feed):
    totals.append(next(feed))
feed, totals = endless(), []
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        step(totals, feed)
    print(epoch, totals)
