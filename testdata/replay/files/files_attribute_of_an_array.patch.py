# florc: restores = no
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import numpy as np
total = 0
class Signal(np.ndarray):
    def mark(self, what):
        self.what = what
x = np.zeros(3).view(Signal)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        x.mark(epoch * 10 + i)
+    print("PROBE", x.what)
    print(epoch, total)
