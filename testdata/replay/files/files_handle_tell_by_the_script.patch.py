# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
f = open("log.txt", "w")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        f.write(f"{epoch} {i}\n")
    at = f.tell()
+    print("PROBE", at)
    print(epoch, total)
