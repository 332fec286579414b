import time, sys, logging
logging.basicConfig(level=logging.INFO)
log = logging.getLogger("train")
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        n += 1
        log.info("step %d", n)
    print("epoch", epoch, file=sys.stderr)
    print(n)
+    print("PROBE", n)
