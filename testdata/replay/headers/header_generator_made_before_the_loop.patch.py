# florc: restores = any
import time
def batches():
    for i in range(3):
+        print("PROBE", i)
        yield i
total = 0
for epoch in range(3):
    feed = batches()
    for x in feed:
        time.sleep(0)
        total += x
    print(epoch, total)
