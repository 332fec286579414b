# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
os.mkdir("d")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open(f"d/{epoch}", "w").close()
        if epoch and i == 0: os.remove(f"d/{epoch - 1}")
+    print("PROBE", sorted(os.listdir("d")))
    print(epoch, total)
