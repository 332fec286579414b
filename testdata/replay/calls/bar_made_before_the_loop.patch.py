import random, time
from tqdm import tqdm
random.seed(1)
data = list(range(5))
total = 0
for epoch in range(3):
    bar = tqdm(enumerate(data), total=5, disable=True)
    for i, x in bar:
        time.sleep(0)
        total += x * random.random()
        bar.set_postfix(total=total)
    print(epoch, total)
+    print("PROBE", total)
