# florc: restores = no
# florc: exact
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import atexit, shutil, tempfile
total = 0
os.mkdir("d")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open(f"d/{epoch}_{i}", "w").write(str(total))
    os.rename(f"d/{epoch}_0", f"d/last")
+    print("PROBE", open("d/last").read())
    print(epoch, total)
