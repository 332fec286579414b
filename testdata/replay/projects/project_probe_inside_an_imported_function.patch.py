import engine, other
model = [0.0]
for epoch in range(3):
    engine.train(model)
    other.tune(model)
    print(epoch, model)
=== engine.py
import time
def train(model):
    for i in range(3):
        time.sleep(0)
        model[0] += i
+        print("PROBE", i, model[0])
=== other.py
import time
def tune(model):
    for i in range(3):
        time.sleep(0)
        model[0] *= 0.5
