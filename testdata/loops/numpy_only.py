"""A perceptron in NumPy, with momentum and results written in place."""
import numpy as np

rng = np.random.default_rng(0)
W = rng.normal(size=(784, 10)) * 0.01
b = np.zeros(10)
velocity = np.zeros_like(W)
lr = 0.5

for epoch in range(20):
    order = rng.permutation(len(X))
    total = 0.0
    for start in range(0, len(X), 128):
        xb, yb = X[order[start:start + 128]], Y[order[start:start + 128]]
        logits = xb @ W + b
        logits -= logits.max(axis=1, keepdims=True)
        probs = np.exp(logits)
        probs /= probs.sum(axis=1, keepdims=True)
        total += -np.log(probs[np.arange(len(yb)), yb]).sum()
        probs[np.arange(len(yb)), yb] -= 1
        grad = xb.T @ probs / len(yb)
        np.multiply(velocity, 0.9, out=velocity)
        np.subtract(velocity, lr * grad, velocity)
        W += velocity
        b -= lr * probs.mean(axis=0)
    lr *= 0.95
    print(epoch, total / len(X))
