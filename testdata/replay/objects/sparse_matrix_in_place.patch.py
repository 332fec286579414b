# florc: exact
import time
import numpy as np
import sklearn
from scipy import sparse
m = sparse.csr_matrix(np.eye(3))
held = [m]
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        m.data *= 2
        m[0, 0] += 1
    print(float(m.sum()))
+    print("PROBE", held[0].toarray().tolist(), held[0] is m)
