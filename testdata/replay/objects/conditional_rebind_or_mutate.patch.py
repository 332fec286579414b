import time
buf = []
keep = buf
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        if epoch % 2:
            buf = [i]
        else:
            buf.append(i)
    print(len(buf))
+    print("PROBE", buf, keep, buf is keep)
