# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
open("f", "w").write("x" * 100)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        os.truncate("f", epoch)
+    print("PROBE", os.stat("f").st_size)
    print(epoch, total)
