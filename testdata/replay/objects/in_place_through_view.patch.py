import time
import numpy as np
params = {"w": np.zeros(4)}
w = params["w"]
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w -= 0.5 * (i + 1)
        w[:2] += 1
    print(w.sum())
+    print("PROBE", params["w"].tolist(), w is params["w"])
