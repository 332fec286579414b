# florc: restores = any
# florc: why = settings of torch may be contexts, so only the runtime sees this
import random
import torch
random.seed(1)
weights = [0.0] * 10


class Net:
    def step(self, rate):
        for j in range(3000):
            weights[j % 10] += random.random() * rate


net = Net()
for epoch in range(4):
    for i in range(10):
        net.step(0.1)
        old = [torch.set_default_dtype(torch.float64), torch.set_num_threads(1)] if i == 5 else None
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], torch.get_default_dtype())
