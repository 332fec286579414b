import time
import numpy as np
from sklearn.linear_model import SGDRegressor
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
model = SGDRegressor(random_state=0)
for epoch in range(3):
    for start in range(0, 60, 20):
        time.sleep(0)
        model.partial_fit(X[start:start + 20], y[start:start + 20])
    print(epoch, model.coef_)
+    print("PROBE", model.coef_, model.t_)
