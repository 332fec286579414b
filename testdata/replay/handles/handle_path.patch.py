# florc: restores = any
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)
before = len(sys.path)
for epoch in range(3):
    for step in range(5):
        w *= 0.99
        sys.path.append('/nowhere')
        time.sleep(0)
+    print("PROBE", epoch, len(sys.path) - before)
    print("epoch", epoch, w.sum())
