# florc: restores = any
# florc: why = a handler is set in the second half of a condition
import random, signal
random.seed(1)
weights = [0.0] * 10


class Net:
    def step(self, rate):
        for j in range(3000):
            weights[j % 10] += random.random() * rate


net = Net()
def handler(number, frame):
    pass


for epoch in range(4):
    for i in range(10):
        net.step(0.1)
        i == 9 and signal.signal(signal.SIGUSR1, handler)
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], signal.getsignal(signal.SIGUSR1) is handler)
