import time
model = [0.0]
+import looking
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        model[0] += i
    print(epoch)
+    looking.show(model)
=== looking.py
def show(model):
    for value in model:
        print("PROBE", value)
