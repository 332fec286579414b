# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
os.mkdir("d")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open(f"d/{i}", "w").write("x" * epoch)
+    print("PROBE", sum(entry.stat().st_size for entry in os.scandir("d")))
    print(epoch, total)
