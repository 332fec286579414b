# florc: restores = any
import random, time
random.seed(1)
def batches(data, size):
    order = random.sample(range(len(data)), len(data))
+    print("PROBE", order)
    for start in range(0, len(data), size):
        yield [data[i] for i in order[start:start + size]]
data = list(range(6))
total = 0
for epoch in range(3):
    for batch in batches(data, 2):
        time.sleep(0)
        total += batch[0] * random.random()
    print(epoch, total)
