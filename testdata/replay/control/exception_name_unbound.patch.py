# florc: restores = any
import time
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        try:
            {}["k"]
        except KeyError as error:
            text = repr(error)
    print(epoch, text)
+    print("PROBE", "error" in dir(), text)
