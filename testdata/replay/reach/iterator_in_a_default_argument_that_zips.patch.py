# florc: restores = any
import itertools, time
DATA = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
def take(rows=zip(DATA * 9, itertools.count())):
    return sum(next(rows))
def train(step):
    time.sleep(0)
    return take() * 2

total = 0
for epoch in range(4):
    for step in range(5):
        total += train(step)
    left = take()
+    print("PROBE", epoch, total, left)
    print(epoch)
