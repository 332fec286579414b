# florc: why = how often a generator was asked for children is no part of the state of its bits
import numpy as np
rng = np.random.default_rng(3)
weights, makers = np.zeros(4), {}
for epoch in range(4):
    for i in range(300):
        weights += rng.spawn(1)[0].normal(size=4)
        makers["last"] = np.random.default_rng(epoch)
        makers["last"].spawn(1)
    print("epoch", epoch)
+    print("PROBE", epoch, weights[0], rng.bit_generator.seed_seq.n_children_spawned, makers["last"].bit_generator.seed_seq.state)
print(rng.spawn(1)[0].normal())
