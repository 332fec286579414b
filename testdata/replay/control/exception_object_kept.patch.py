# florc: restores = any
import time
kept = None
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        try:
            raise ValueError(epoch, i)
        except ValueError as error:
            kept = error
    print(epoch)
+    print("PROBE", kept.args)
