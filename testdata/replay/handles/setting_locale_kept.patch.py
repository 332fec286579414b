# florc: restores = any
# florc: why = the new value is kept
import locale, random
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
        got = locale.setlocale(locale.LC_NUMERIC, "C.UTF-8" if i else "C")
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], locale.setlocale(locale.LC_NUMERIC))
