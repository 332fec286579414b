# florc: exact
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
os.mkfifo("p")
n = os.open("p", os.O_RDWR)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        pass
    os.write(n, b"%d" % total)
+    print("PROBE", total, os.path.exists("p"))
    print(os.read(n, 99))
    print(epoch, total)
