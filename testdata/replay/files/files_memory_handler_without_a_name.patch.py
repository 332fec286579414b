# florc: restores = no
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
log = logging.getLogger()
log.setLevel(10)
log.addHandler(logging.handlers.MemoryHandler(1000, logging.CRITICAL))
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        log.info("%d %d", epoch, i)
+    print("PROBE", len(log.handlers[0].buffer))
    print(epoch, total)
