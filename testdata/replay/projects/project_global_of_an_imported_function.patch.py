import engine
total = 0
for epoch in range(3):
    engine.train(epoch)
    print(epoch)
+    print("PROBE", engine.steps, engine.seen)
=== engine.py
import time
steps = 0
seen = []
def train(epoch):
    global steps
    for i in range(5):
        time.sleep(0)
        steps += 1
        seen.append((epoch, i))
