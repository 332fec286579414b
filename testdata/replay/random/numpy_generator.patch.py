import time
import numpy as np
rng = np.random.default_rng(7)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        x = rng.normal()
    print(x, rng.integers(10))
+    print("PROBE", x)
print(rng.random())
+print("PROBE", rng.bit_generator.state["state"]["state"])
