# florc: restores = no
import time, io, contextlib
w = 0
for epoch in range(2):
    buf = io.StringIO()
    with contextlib.redirect_stdout(buf):
        for i in range(2):
            time.sleep(0)
            w += 1
            print("inside", w)
    print(buf.getvalue().strip())
+    print("PROBE", w)
