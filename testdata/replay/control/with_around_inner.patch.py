# florc: restores = any
import time, contextlib
events = []
@contextlib.contextmanager
def stage(name):
    events.append("in " + name)
    yield name.upper()
    events.append("out " + name)
for epoch in range(3):
    with stage(f"e{epoch}") as s:
        for i in range(3):
            time.sleep(0)
            events.append(i)
    print(epoch, len(events))
+    print("PROBE", s, events[-3:])
