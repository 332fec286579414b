# florc: restores = any
import bz2, decimal, gc, gzip, logging, lzma, signal, sys, tempfile, threading, time, zlib
import numpy as np
w = np.ones(3)

for epoch in range(3):
    for step in range(5):
        w *= 0.99
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        time.sleep(0)
+    print("PROBE", epoch, int(signal.getsignal(signal.SIGUSR1)))
    print("epoch", epoch, w.sum())
