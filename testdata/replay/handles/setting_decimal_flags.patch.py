# florc: restores = any
# florc: why = arithmetic leaves flags in the context
import decimal, random
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
        third = decimal.Decimal(1) / 3 + i
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], bool(decimal.getcontext().flags[decimal.Inexact]))
