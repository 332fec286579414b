import time
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
params = {"w": np.zeros(3), "b": 0.0}
velocity = {k: np.zeros_like(v) for k, v in params.items()}
def grads(p, xb, yb):
    err = xb @ p["w"] + p["b"] - yb
    return {"w": xb.T @ err / len(yb), "b": err.mean()}
for epoch in range(3):
    order = rng.permutation(20)
    for s in range(0, 20, 5):
        time.sleep(0)
        idx = order[s:s + 5]
        g = grads(params, X[idx], y[idx])
        for k in params:
            velocity[k] = 0.9 * velocity[k] - 0.1 * g[k]
            params[k] += velocity[k]
    loss = float(((X @ params["w"] + params["b"] - y) ** 2).mean())
    print(epoch, loss)
+    print("PROBE", params, velocity)
