# florc: exact
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import atexit, shutil, tempfile
total = 0

for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        with open("log.txt", "a") as f: f.write(f"{epoch} {i}\n" * (i + 1))
+    with tempfile.TemporaryDirectory() as own: open(own + "/a", "w").write("a"); print("PROBE", total, os.listdir(own))
    print(epoch, total)
