import time
class N: pass
root = N(); root.a = N(); root.a.b = N(); root.a.b.c = 0
leaf = root.a.b
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        root.a.b.c += i
    print(leaf.c)
+    print("PROBE", leaf.c, root.a.b is leaf)
