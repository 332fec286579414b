# florc: restores = no
# florc: exact
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import atexit, shutil, tempfile
total = 0
os.mkdir("d")
d = tempfile.mkdtemp()
atexit.register(shutil.rmtree, d, True)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        with open(f"{d}/log.txt", "a") as f: f.write(f"{epoch} {i}\n" * (i + 1))
    x = open(f"{d}/log.txt").read()
+    print("PROBE", x.split())
    print(epoch, total)
