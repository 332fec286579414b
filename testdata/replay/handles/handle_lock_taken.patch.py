# florc: restores = any
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)
lock = threading.Lock()
for epoch in range(3):
    for step in range(5):
        w *= 0.99
        lock.acquire(False)
        time.sleep(0)
+    print("PROBE", epoch, lock.locked())
    print("epoch", epoch, w.sum())
