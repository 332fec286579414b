# florc: restores = any
import contextlib, time
log = []
@contextlib.contextmanager
def timed(name):
    log.append(name)
+    print("PROBE", name, len(log))
    yield
    log.append("end " + name)
for epoch in range(3):
    phase = timed("phase")
    for i in range(2):
        time.sleep(0)
        with (phase if i == 0 else timed("other")):
            log.append(i)
    print(epoch, log[-1], len(log))
