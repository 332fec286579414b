import time
import numpy as np
from sklearn.linear_model import SGDClassifier
rng = np.random.RandomState(0)
X = rng.randn(40, 3); y = (X[:, 0] > 0).astype(int)
clf = SGDClassifier(random_state=0)
for epoch in range(3):
    for s in range(0, 40, 20):
        time.sleep(0)
        clf.partial_fit(X[s:s + 20], y[s:s + 20], classes=[0, 1])
    print(clf.score(X, y))
+    print("PROBE", clf.coef_.tolist(), clf.t_)
