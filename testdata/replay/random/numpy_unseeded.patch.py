import time
import numpy as np
for epoch in range(2):
    for i in range(3):
        time.sleep(0)
        x = np.random.rand()
    print("TRUTH", x)
+    print("PROBE", x)
y = np.random.rand()
print("TRUTH", y)
+print("PROBE", y)
