import time
import numpy as np
np.random.seed(0)
for epoch in range(3):
    w = np.zeros(3)
    for i in range(3):
        time.sleep(0)
        w += np.random.randn(3)
    print(w.sum(), np.random.rand())
+    print("PROBE", w.tolist())
print(np.random.permutation(5))
