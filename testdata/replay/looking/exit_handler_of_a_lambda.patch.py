# florc: exact
# florc: restores = any
import random
import atexit
random.seed(1)
weights = [0.0] * 3
for epoch in range(3):
    for i in range(300):
        weights[i % 3] += random.random()
    print("epoch", epoch, weights[0])
+atexit.register(lambda: print("PROBE", weights[1]))
+show = lambda: print("PROBE show", weights[2])
+show()
print("done")
