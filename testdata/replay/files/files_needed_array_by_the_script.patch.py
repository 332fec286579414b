# florc: restores = no
# florc: exact
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import atexit, shutil, tempfile, numpy as np
total = 0
os.mkdir("d")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        np.save(f"d/{epoch}", [total])
    x = np.load(f"d/{epoch}.npy")
    os.remove(f"d/{epoch}.npy")
+    print("PROBE", x)
    print(epoch, total)
