import time, sys
w = 0
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        w += 1
    sys.stdout.buffer.write(b"raw %d\n" % w)
    sys.stdout.flush()
+    print("PROBE", w)
