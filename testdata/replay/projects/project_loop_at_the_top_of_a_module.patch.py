# florc: restores = any
import tables
for epoch in range(2):
    tables.use(epoch)
    print(epoch)
+    print("PROBE", tables.SQUARES, tables.last)
=== tables.py
import time
SQUARES = []
for n in range(3):
    for m in range(3):
        time.sleep(0)
        SQUARES.append(n * m)
    last = n
def use(k):
    for i in range(3):
        time.sleep(0)
        SQUARES[i] += k
