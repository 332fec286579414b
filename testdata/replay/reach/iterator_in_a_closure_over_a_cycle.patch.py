# florc: restores = any
import itertools, time
DATA = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
def stream(rows):
    rows_of = itertools.cycle(rows)
    return lambda: next(rows_of)
take = stream(DATA)
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
