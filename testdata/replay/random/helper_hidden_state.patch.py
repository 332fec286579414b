# florc: restores = any
import time
from helper import update
x = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        x = update(i)
    print(x)
+    print("PROBE", x, update.__module__)
y = update(10)
print(y)
+print("PROBE", y)
=== helper.py
_seen = []
def update(i):
    _seen.append(i)
    return sum(_seen)
