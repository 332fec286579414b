# florc: exact
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import atexit, shutil, tempfile
total = 0
d = tempfile.mkdtemp()
atexit.register(shutil.rmtree, d, True)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open(f"{d}/x", "w").close()
    with open(f"{d}/log.txt", "a") as f: f.write(f"{epoch} \n" * (i + 1))
+    print("PROBE", open(f"{d}/log.txt").read().split())
    print(epoch, total)
