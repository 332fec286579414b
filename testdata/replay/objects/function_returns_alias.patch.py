import time
import numpy as np
params = {"w": np.zeros(3)}
def get(name):
    return params[name]
def view(a):
    return a[1:]
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w = get("w")
        w += 1
        t = view(params["w"])
        t *= 2
    print(params["w"].sum())
+    print("PROBE", params["w"].tolist())
