import time
import numpy as np
params = {"w": np.zeros(4), "b": np.ones(2)}
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w = params["w"]
        w -= 0.5
        b = params.get("b")
        b *= 2
        v = w.reshape(2, 2)
        v[0] += 3
    print(params["w"].sum())
+    print("PROBE", params)
