# florc: restores = no
# florc: exact
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import atexit, shutil, tempfile
total = 0
os.mkdir("d")
import shelve
db = shelve.open("db")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        db[str(i)] = total
    print(sorted(db.items()))
+    print("PROBE", sorted(db.items()))
    print(epoch, total)
