# florc: why = what is not there was not there then, either
# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0

for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open("tmp", "w").write("x")
        os.remove("tmp")
    try: open("tmp")
    except OSError: total += 1
+    print("PROBE", total)
    print(epoch, total)
