# florc: restores = any
# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0

for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        with open("log.txt", "a") as f: f.write(f"{epoch} {i}\n" * (i + 1))
    if os.path.exists("log.txt"): os.replace("log.txt", "safe.txt")
+    print("PROBE", open("safe.txt").read().split() if os.path.exists("safe.txt") else 0)
    print(epoch, total)
