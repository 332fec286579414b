# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue
import signal
total = 0
w, hits, me = 0, [], sys.modules[__name__]
def count(*_):
    global w
    w += 1
signal.signal(signal.SIGUSR1, count)
signal.signal(signal.SIGUSR2, lambda *_: hits.append(1))
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        sys.modules[__name__].w = epoch * 10 + i
+    print("PROBE", w, len(hits))
    print(epoch, total)
