# florc: restores = any
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)
plateau, scale = threading.Event(), [1.0]
for epoch in range(3):
    for step in range(5):
        w *= 0.99
        if w[0] < 0.93: plateau.set()
        time.sleep(0)
+    print("PROBE", epoch, plateau.is_set() and 0.5)
    print("epoch", epoch, w.sum())
