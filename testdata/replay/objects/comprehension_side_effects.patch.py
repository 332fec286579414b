# florc: restores = any
import time
log = []
def f(x):
    log.append(x)
    return x * x
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        sq = [f(x) for x in range(i + 1)]
        [log.append(-x) for x in sq]
    print(sum(log))
+    print("PROBE", log, sq)
