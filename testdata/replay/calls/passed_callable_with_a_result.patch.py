import time
def step(box, x):
    time.sleep(0)
    box["n"] += x
    return box["n"]
def train(f, box):
    for i in range(3):
        last = f(box, i)
    return last
box = {"n": 0}
for epoch in range(3):
    last = train(step, box)
    print(epoch, last)
+    print("PROBE", last, box)
