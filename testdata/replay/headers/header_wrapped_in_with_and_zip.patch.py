# florc: restores = any
import contextlib, time
@contextlib.contextmanager
def opened(log):
    log.append("open")
+    print("PROBE", log)
    yield log
    log.append("shut")
log, total = [], 0
for epoch in range(3):
    for i in range(2):
        with opened(log) as found:
            time.sleep(0)
            total += len(found)
    print(epoch, total)
