# florc: restores = any
import time
import numpy as np
m = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])
other = m
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        m[0] += 1
        m[1] = np.ma.masked
    print(float(m.sum()))
+    print("PROBE", other.tolist(), m is other)
