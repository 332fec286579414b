# florc: exact
# florc: why = a class holds the first array, a list and a name the present one
import numpy as np
np.random.seed(0)
x = np.zeros(4)
class A:
    buf = x
L = [x]
w = 0.0
for e in range(4):
    for i in range(10):
        w += np.random.randn()
        x = x + np.random.rand(4); L[0] = x
+    print('PROBE', e, L[0] is x, A.buf is x, x.sum())
print('w %.6f' % w)
