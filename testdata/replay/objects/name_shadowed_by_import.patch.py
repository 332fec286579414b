import time
import math as model
print(model.pi)
model = [model.pi]
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        model.append(i)
    print(len(model))
+    print("PROBE", model)
