"""Doc of the script."""
from __future__ import annotations
import time
w: int = 0
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        w += 1
    print(w, __doc__, __annotations__)
+    print("PROBE", w)
