import time

import numpy as np

rng = np.random.default_rng(3)
weights = np.zeros(4)
momentum = {"w": np.zeros(4), "steps": 0}


def train(epoch):
    for step in range(6):
        gradient = rng.normal(size=4) + epoch
        momentum["w"] = 0.9 * momentum["w"] + gradient
        momentum["steps"] += 1
        weights[:] -= 0.01 * momentum["w"]
        time.sleep(0.01)


def evaluate():
    total = 0.0
    for value in weights:
        total += value * value
    return total


for epoch in range(5):
    train(epoch)
    print("epoch", epoch, evaluate())
