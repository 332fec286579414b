# florc: restores = any
import time
log = []
def on_a(x): log.append(("a", x)); return x
def on_b(x): log.append(("b", x)); return -x
table = {"a": on_a, "b": on_b}
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        r = table["ab"[i % 2]](i)
    print(r, len(log))
+    print("PROBE", log)
