# florc: restores = any
import time
for epoch in range(3):
    for i in range(epoch % 2):
        time.sleep(0)
        last = epoch
    print(epoch)
    try:
        print(last)
    except NameError:
        print("unbound")
+    try:
+        print("PROBE", last, i)
+    except NameError as error:
+        print("PROBE", error)
