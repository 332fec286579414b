# florc: restores = any
# florc: why = the old value is kept
import random
import numpy
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
        old = numpy.seterr(over="raise")
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], numpy.geterr()["over"])
