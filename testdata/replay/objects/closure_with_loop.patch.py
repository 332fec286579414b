# florc: restores = any
import time
def make():
    total = 0
    def train(k):
        nonlocal total
        for i in range(3):
            time.sleep(0)
            total += i * k
        return total
    return train
train = make()
for epoch in range(3):
    r = train(epoch)
    print(r)
+    print("PROBE", r)
