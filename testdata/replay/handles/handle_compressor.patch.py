# florc: restores = any
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)
c = zlib.compressobj()
for epoch in range(3):
    for step in range(5):
        w *= 0.99
        z = c.compress(b'abc')
        time.sleep(0)
+    print("PROBE", epoch, len(c.copy().flush()))
    print("epoch", epoch, w.sum())
