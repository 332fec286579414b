import time, sys, logging
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
log = logging.getLogger("train")
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        n += 1
    print(n)
+    log.info("PROBE %d", n)
