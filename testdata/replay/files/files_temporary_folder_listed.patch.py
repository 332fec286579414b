# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import atexit, shutil, tempfile
total = 0
t = tempfile.TemporaryDirectory()
d = t.name
atexit.register(shutil.rmtree, d, True)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open(f"{d}/{epoch}_{i}", "w").close()
+    print("PROBE", len(os.listdir(d)))
    print(epoch, total)
