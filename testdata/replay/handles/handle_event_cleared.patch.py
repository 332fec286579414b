# florc: restores = any
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)
plateau = threading.Event(); plateau.set()
for epoch in range(3):
    for step in range(5):
        w *= 0.99
        plateau.clear()
        time.sleep(0)
+    print("PROBE", epoch, plateau.is_set())
    print("epoch", epoch, w.sum())
