# florc: restores = any
import time
it = iter(list("abcdefghijkl"))
for epoch in range(3):
    for _ in range(2):
        time.sleep(0)
        x = next(it)
    print(x)
print(next(it))
+print("PROBE", x)
