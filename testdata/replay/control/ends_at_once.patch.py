# florc: unsure
# florc: restores = any
# florc: why = the script ends its process past everything that Python does at the end
import os
import random
random.seed(1)
weights = [0.0] * 3
for epoch in range(4):
    for i in range(300):
        weights[i % 3] += random.random()
    print("epoch", epoch, weights[0], flush=True)
+    print("PROBE", epoch, weights[1], flush=True)
os._exit(0)
