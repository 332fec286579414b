# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0

for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open(f"f{epoch}", "w").close()
+    print("PROBE", [os.path.exists(f"f{k}") for k in range(4)])
    print(epoch, total)
