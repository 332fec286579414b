import random, time
import numpy as np
import torch
r, g, t = random.Random(3), np.random.default_rng(4), torch.Generator()
deck = list(range(6))
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        g.shuffle(deck)
        r.choice(deck)
        x = torch.rand(1, generator=t)
    print(epoch, deck, r.random(), g.random(), torch.rand(1, generator=t).item())
+    print("PROBE", deck)
