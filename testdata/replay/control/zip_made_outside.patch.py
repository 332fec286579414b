# florc: restores = any
import time
pairs = zip(range(9), "abcdefghi")
out = []
for epoch in range(3):
    for n, (a, b) in enumerate(pairs):
        time.sleep(0)
        out.append((n, a, b))
        if n == 2:
            break
    print(len(out))
+    print("PROBE", out)
