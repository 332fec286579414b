# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0

for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        with open("log.txt", "a") as f: f.write(f"{epoch} {i}\n" * (i + 1))
    size = os.path.getsize("log.txt")
+    print("PROBE", size)
    print(epoch, total)
