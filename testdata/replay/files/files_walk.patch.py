# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
os.mkdir("d")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open(f"d/{epoch}_{i}", "w").write("x")
+    print("PROBE", [len(names) for _, _, names in os.walk("d")])
    print(epoch, total)
