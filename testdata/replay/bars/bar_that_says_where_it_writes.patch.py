import sys, time
from tqdm import tqdm
class Trainer:
    def __init__(self):
        self.total = 0
    def fit(self):
        for epoch in range(4):
            bar = tqdm(self.items(), total=5, file=sys.stderr, leave=False)
            for i, item in enumerate(bar):
                time.sleep(0)
                self.total += item
                bar.set_postfix(total=self.total)
            print(epoch, self.total)
+            print("PROBE", epoch, self.total)
    def items(self):
        return [1, 2, 3, 4, 5]
Trainer().fit()
