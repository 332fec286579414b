# florc: restores = any
import time
attempts = []
def train(size):
    for i in range(3):
        time.sleep(0)
        attempts.append((size, i))
        if size > 2 and i == 1:
            raise MemoryError(size)
    return size * 10
for epoch in range(2):
    size = 4
    while True:
        try:
            got = train(size)
            break
        except MemoryError:
            size //= 2
    print(epoch, size, got)
+    print("PROBE", size, got, attempts)
