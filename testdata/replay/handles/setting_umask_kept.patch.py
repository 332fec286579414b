# florc: restores = any
# florc: why = the old value is kept: the call is no statement of its own
import os, random
random.seed(1)
weights = [0.0] * 10


class Net:
    def step(self, rate):
        for j in range(3000):
            weights[j % 10] += random.random() * rate


net = Net()
for epoch in range(4):
    for i in range(10):
        net.step(0.1)
        old = os.umask(0o077) if i == 5 else 0
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], os.umask(os.umask(0o022)) and oct(0))
