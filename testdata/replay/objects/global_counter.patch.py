import time
steps = 0
def step():
    global steps
    time.sleep(0)
    steps += 1
def train():
    for epoch in range(3):
        for i in range(3):
            step()
        print(epoch, steps)
+        print("PROBE", steps)
train()
