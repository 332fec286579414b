# florc: restores = any
import time
out = []
for epoch in range(3):
    for i in range(4):
        time.sleep(0)
        match (i, epoch):
            case (0, e):
                out.append(("zero", e))
            case (x, y) if x == y:
                last = x
            case _:
                pass
    print(epoch, len(out))
+    print("PROBE", out, "last" in dir() and last)
