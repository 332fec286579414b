# florc: restores = any
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)
left = threading.Semaphore(50)
for epoch in range(3):
    for step in range(5):
        w *= 0.99
        left.acquire()
        time.sleep(0)
+    print("PROBE", epoch, left._value)
    print("epoch", epoch, w.sum())
