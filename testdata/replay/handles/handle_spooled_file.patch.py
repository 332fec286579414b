# florc: restores = any
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)
sp = tempfile.SpooledTemporaryFile(mode='w+')
for epoch in range(3):
    for step in range(5):
        w *= 0.99
        sp.write(str(step))
        time.sleep(0)
+    print("PROBE", epoch, sp.tell())
    print("epoch", epoch, w.sum())
