# florc: restores = any
import time
def numbers():
    n = 0
    while True:
        n += 1
        yield n
source = numbers()
for epoch in range(3):
    s = 0
    for _ in range(3):
        time.sleep(0)
        s += next(source)
    print(s)
+    print("PROBE", s)
