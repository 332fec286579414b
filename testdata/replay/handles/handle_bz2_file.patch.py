# florc: restores = any
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)
f = bz2.open('o.bz2', 'wb')
for epoch in range(3):
    for step in range(5):
        w *= 0.99
        n = f.write(b'abc')
        time.sleep(0)
+    print("PROBE", epoch, f.tell())
    print("epoch", epoch, w.sum())
