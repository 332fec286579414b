# florc: exact
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
os.mkdir("d")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open(f"d/{epoch}_{i}", "w").write("x")
    try: open("d/stop")
    except OSError: total += 1
+    print("PROBE", total)
    print(epoch, total)
