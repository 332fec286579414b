import time
class Box: pass
box = Box()
names = {}
for epoch in range(3):
    for box.i in range(3):
        time.sleep(0)
    for names["k"] in range(epoch + 1):
        time.sleep(0)
    print(box.i, names)
+    print("PROBE", box.i, names)
