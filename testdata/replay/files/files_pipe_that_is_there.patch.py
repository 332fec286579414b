# florc: exact
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
try: os.mkfifo("p")
except FileExistsError: print("there")
try: os.mkfifo("p")
except FileExistsError: print("there")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        pass
+    print("PROBE", total)
    print(epoch, total)
