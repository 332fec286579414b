import time
class Net:
    def __init__(self): self.w = [1, 2]
class Opt:
    def __init__(self, net): self.params = net.w
    def step(self): self.params[0] += 1
net = Net()
opt = Opt(net)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        opt.step()
    print(net.w)
+    print("PROBE", net.w, opt.params is net.w)
