# florc: restores = any
import time
def step(a, b): return a + 1, [b, a]
a, b = 0, []
(first, *rest), last = (0, 1, 2), 3
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        a, b = step(a, b)
        (first, *rest), last = (a, i, i), b
    print(a)
+    print("PROBE", a, b, first, rest, last, last is b)
