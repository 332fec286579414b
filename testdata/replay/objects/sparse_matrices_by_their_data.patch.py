# florc: exact
# florc: why = matrices of scipy are filled in place, whatever form they have, and wherever they are held
import time

import numpy as np
import sklearn
from scipy import sparse


class Model:
    def __init__(self):
        made = lambda form: sparse.random(20, 20, 0.2, format=form, random_state=0)
        self.held = {form: made(form) for form in ("csr", "csc", "coo", "lil", "dok", "bsr")}
        self.array = sparse.csr_array(np.eye(4))


model = Model()
plain = sparse.eye(5, format="csr")
data = plain.data
v = np.ones(20)
for epoch in range(3):
    for i in range(4):
        time.sleep(0)
        for form in ("csr", "csc", "coo", "bsr"):
            model.held[form].data[i] = i - 0.5 * epoch
        model.held["lil"][i, epoch] = 1.5
        model.held["dok"][epoch, i] = i
        model.array.data *= 0.9
        plain.data[i] += 1
        v = model.held["csr"] @ v
    print("epoch", epoch, v.sum())
+    print("PROBE", [m.toarray().sum().item() for m in model.held.values()], model.array.toarray().tolist(), data.tolist())
