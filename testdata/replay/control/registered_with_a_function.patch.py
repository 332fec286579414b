# florc: restores = any
import time, functools
@functools.singledispatch
def f(x): return "base"
def setup(e):
    if e == 1: f.register(int, lambda x: "int")
for e in range(3):
    for i in range(3): setup(e); time.sleep(0)
+    print("PROBE", e, f(3))
    print(e)
