# florc: restores = any
import time
acc = 1
for i in range(6):
    time.sleep(0)
    acc = acc * 3 % 17
print(acc)
+print("PROBE", acc, i)
