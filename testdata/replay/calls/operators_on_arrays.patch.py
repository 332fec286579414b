# florc: exact
# florc: why = a loop whose only work are operators on arrays is worth restoring
import numpy as np


def train(given, n):
    x = given.normal(size=(n, 4))
    y = x @ np.arange(4.0)
    w, seen = np.zeros(4), []
    for epoch in range(3):
        for i in range(n):
            w -= 0.01 * x[i] * (x[i] @ w - y[i])
        for i in range(n):
            y[i] = y[i] * 0.999 - x[i][0]
        seen.append(epoch)
        print("epoch", epoch)
+        print("PROBE", epoch, w.tolist(), y[:3].tolist())


train(np.random.RandomState(0), 50)
