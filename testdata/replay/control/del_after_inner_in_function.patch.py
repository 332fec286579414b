import time
def train():
    n = 0
    for epoch in range(3):
        for i in range(2):
            time.sleep(0)
            outputs = [epoch * i]
            n += outputs[0]
        del (outputs,)
        print(n)
+        print("PROBE", n)
train()
