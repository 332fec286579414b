import time
import numpy as np
a, b = np.zeros(3), np.ones(3)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        np.add(a, i, a)
        np.exp(b / 10, b)
        np.maximum.at(a, [0, 1], 2.5)
    print(epoch, a, b)
+    print("PROBE", a, b)
