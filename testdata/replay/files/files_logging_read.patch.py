# florc: unsure
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
logging.basicConfig(filename="log.txt", level=logging.INFO)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        logging.info("%d %d", epoch, i)
+    print("PROBE", open("log.txt").read().split())
    print(epoch, total)
