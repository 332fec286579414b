# florc: exact
# florc: why = a helper reads what its caller's loop left, by the caller's frame
import numpy
from helper import names
numpy.random.seed(0)


def run(w):
    k = 0
    while k < 12:
        w += numpy.random.randn()
        k += 1
    return w, names()


w = 0.0
for epoch in range(4):
    w, found = run(w)
    print("epoch", epoch)
+    print("PROBE", epoch, w, found.get("k"), found.get("w"))
=== helper.py
import inspect


def names():
    return dict(inspect.currentframe().f_back.f_locals)
