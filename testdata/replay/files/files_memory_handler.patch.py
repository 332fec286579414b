# florc: restores = no
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
log = logging.getLogger("x")
log.setLevel(10)
kept = logging.handlers.MemoryHandler(1000, logging.CRITICAL)
log.addHandler(kept)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        log.info("%d %d", epoch, i)
+    print("PROBE", len(kept.buffer), kept.buffer[-1].getMessage())
    print(epoch, total)
