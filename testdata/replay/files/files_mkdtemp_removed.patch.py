# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import atexit, shutil, tempfile
total = 0
d = tempfile.mkdtemp()
atexit.register(shutil.rmtree, d, True)
open(f"{d}/x", "w").close()
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        if i == 1: os.remove(f"{d}/x")
+    print("PROBE", os.path.exists(f"{d}/x"))
    open(f"{d}/x", "w").close()
    print(epoch, total)
