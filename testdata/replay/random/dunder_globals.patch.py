# florc: restores = any
import time
print(sorted(globals()), __doc__, __spec__ is None, __package__)
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        x = i
    print(x)
+    print("PROBE", x)
