# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import atexit, shutil, tempfile
total = 0
def new(): return tempfile.NamedTemporaryFile("w", dir=".", delete=False)
f = new()
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        f.write(f"{epoch} {i}\n")
    f.close()
    os.replace(f.name, "safe.txt")
+    print("PROBE", open("safe.txt").read().split())
    f = new()
    print(epoch, total)
