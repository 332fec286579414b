import time
def walk(depth, out):
    if depth == 0:
        return
    for i in range(2):
        time.sleep(0)
        out.append(depth * 10 + i)
    walk(depth - 1, out)
out = []
for epoch in range(2):
    walk(3, out)
    print(len(out))
+    print("PROBE", out)
