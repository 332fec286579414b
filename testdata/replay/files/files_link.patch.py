# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0

for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        if os.path.lexists("latest"): os.remove("latest")
        os.symlink(f"f{epoch}", "latest")
+    print("PROBE", os.readlink("latest"))
    print(epoch, total)
