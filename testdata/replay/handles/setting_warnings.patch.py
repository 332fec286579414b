# florc: restores = any
# florc: why = the compiler does not count filters of warnings as settings
import random, warnings
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
        if i == 5: warnings.simplefilter("error", ResourceWarning)
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], sum(f[0] == "error" for f in warnings.filters))
