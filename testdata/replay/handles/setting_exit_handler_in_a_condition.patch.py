# florc: restores = any
# florc: why = a handler is registered in the second half of a condition
import atexit, random
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
        i == 9 and atexit.register(print, "bye", epoch)
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], atexit._ncallbacks() > 0)
