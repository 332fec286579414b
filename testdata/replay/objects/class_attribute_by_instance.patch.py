# florc: restores = any
import time
class Meter:
    history = []
class Net:
    def __init__(self):
        self.meter = Meter()
    def fit(self, x):
        time.sleep(0)
        self.meter.history.append(x)
net = Net()
for epoch in range(3):
    for i in range(2):
        net.fit(epoch * i)
    print(len(Meter.history))
+    print("PROBE", Meter.history)
