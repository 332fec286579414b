# florc: restores = any
import helper
w = 0
for epoch in range(3):
    w = helper.train(w)
    print(w)
=== helper.py
import time
def train(w):
    for i in range(3):
        time.sleep(0)
        w += i
+    print("PROBE", w)
    return w
