# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
os.mkdir("d")
d = os.open("d", os.O_RDONLY)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        n = os.open("x", os.O_CREAT | os.O_WRONLY | os.O_APPEND, dir_fd=d)
        os.write(n, b"%d" % total)
        os.close(n)
+    print("PROBE", open("d/x").read())
    print(epoch, total)
