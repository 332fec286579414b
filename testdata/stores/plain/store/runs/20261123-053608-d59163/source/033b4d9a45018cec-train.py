import random
import time

random.seed(4)
weight, history = 0.0, []
for epoch in range(4):
    for step in range(5):
        weight = 0.9 * weight + random.random()
        history.append(round(weight, 6))
        time.sleep(0.01)
    print("epoch", epoch, weight)
print("done", len(history))
