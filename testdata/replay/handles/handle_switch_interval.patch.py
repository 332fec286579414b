# florc: restores = any
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)

for epoch in range(3):
    for step in range(5):
        w *= 0.99
        sys.setswitchinterval(0.01 + step / 1000)
        time.sleep(0)
+    print("PROBE", epoch, round(sys.getswitchinterval(), 4))
    print("epoch", epoch, w.sum())
