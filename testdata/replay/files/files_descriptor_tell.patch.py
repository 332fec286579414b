# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import atexit, shutil, tempfile
total = 0
n, _ = tempfile.mkstemp()
f = os.fdopen(n, "w+")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        f.write(f"{epoch} {i}\n")
    f.flush()
+    print("PROBE", f.tell())
    print(epoch, total)
