# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
f = os.open("log.txt", os.O_WRONLY | os.O_CREAT)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        os.write(f, b"x")
+    print("PROBE", os.lseek(f, 0, os.SEEK_CUR), os.stat(f).st_size)
    print(epoch, total)
