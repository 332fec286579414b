# florc: restores = any
# florc: why = the old value is kept
import os, random
random.seed(1)
weights = [0.0] * 10


class Net:
    def step(self, rate):
        for j in range(3000):
            weights[j % 10] += random.random() * rate


net = Net()
os.environ["FLAG"] = "1"
for epoch in range(4):
    for i in range(10):
        net.step(0.1)
        old = os.environ.pop("FLAG", None) if i == 3 and epoch == 1 else None
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], "FLAG" in os.environ)
