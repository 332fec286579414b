import time
import numpy as np
rng = np.random.default_rng()
for epoch in range(2):
    for i in range(3):
        time.sleep(0)
        x = rng.normal()
    print("TRUTH", x)
+    print("PROBE", x)
