# florc: why = what was printed before the block ran again stays printed, and is wrong
# florc: flagged
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
os.mkdir("d")
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open(f"d/{epoch}_{i}", "w").write(str(total))
    if epoch: os.remove(f"d/{epoch - 1}_0")
+    print("PROBE", sorted(os.listdir("d")))
    print(epoch, total)
