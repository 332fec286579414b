# florc: restores = no
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
log = logging.getLogger("x")
log.setLevel(10)
kept = []
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        log.setLevel(20 + 10 * (epoch % 2))
+    print("PROBE", log.level)
    print(epoch, total)
