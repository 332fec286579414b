# florc: restores = any
# florc: why = a context variable belongs to no name
import contextvars, random
random.seed(1)
weights = [0.0] * 10


class Net:
    def step(self, rate):
        for j in range(3000):
            weights[j % 10] += random.random() * rate


net = Net()
rate = contextvars.ContextVar("rate", default=-1)
for epoch in range(4):
    for i in range(10):
        net.step(0.1)
        if i == 3: rate.set(epoch)
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], rate.get())
