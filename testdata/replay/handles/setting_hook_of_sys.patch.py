# florc: restores = any
# florc: why = an attribute of a module that is known
import random, sys
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
        if i == 3: sys.excepthook = print
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], sys.excepthook is print)
