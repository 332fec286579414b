# florc: restores = any
import time, random
class Loader:
    def __init__(self, seed):
        self.rng, self.epochs = random.Random(seed), 0
    def __iter__(self):
        self.epochs += 1
        return iter([self.rng.random() for _ in range(3)])
loaders = {"train": Loader(1), "val": Loader(2)}
total = 0.0
for epoch in range(3):
    for x in loaders["train"]:
        time.sleep(0)
        total += x
+    print("PROBE", total, loaders["train"].epochs, loaders["train"].rng.getstate()[1][-1])
