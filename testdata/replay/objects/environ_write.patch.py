# florc: restores = any
import time, os
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        os.environ["MY_STEP"] = f"{epoch}-{i}"
    print(epoch)
+    print("PROBE", os.environ["MY_STEP"])
