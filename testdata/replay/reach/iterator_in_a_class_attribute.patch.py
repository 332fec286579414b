# florc: restores = any
import itertools, time
DATA = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
class Sample:
    ids = itertools.count()
    def __init__(self):
        self.id = next(Sample.ids)
def train(step):
    time.sleep(0)
    return Sample().id * 2

total = 0
for epoch in range(4):
    for step in range(5):
        total += train(step)
    left = Sample().id
+    print("PROBE", epoch, total, left)
    print(epoch)
