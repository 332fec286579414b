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
    print(sorted(os.listdir("d")))
    for name in os.listdir("d"): os.remove("d/" + name)
+    print("PROBE", epoch)
    print(epoch, total)
