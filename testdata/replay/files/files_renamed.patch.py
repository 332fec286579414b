# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0

for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        open("tmp", "w").close()
        os.replace("tmp", f"f{epoch}")
+    print("PROBE", os.path.exists("tmp"), sorted(os.listdir(".")) == sorted(["train.py", *(f"f{k}" for k in range(epoch + 1))]))
    print(epoch, total)
