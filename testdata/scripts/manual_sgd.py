# Learning what torch.nn really is: a loop over parameters instead of an optimizer.
import hashlib
import math

import torch
from sklearn.datasets import load_digits

torch.manual_seed(1)
torch.set_num_threads(1)

images, labels = load_digits(return_X_y=True)
x_train, y_train, x_valid, y_valid = map(
    torch.tensor, ((images[:1500] / 16).astype("float32"), labels[:1500],
                   (images[1500:] / 16).astype("float32"), labels[1500:]))
n, c = x_train.shape

hidden = 160
W1 = torch.randn(c, hidden) / math.sqrt(c)
W1.requires_grad_()
b1 = torch.zeros(hidden, requires_grad=True)
W2 = torch.randn(hidden, 10) / math.sqrt(hidden)
W2.requires_grad_()
b2 = torch.zeros(10, requires_grad=True)
params = [W1, b1, W2, b2]
velocity = [torch.zeros_like(p) for p in params]


def log_softmax(x):
    return x - x.exp().sum(-1).log().unsqueeze(-1)


def model(xb):
    h = (xb @ W1 + b1).clamp_min(0.)
    return log_softmax(h @ W2 + b2)


def nll(input, target):
    return -input[range(target.shape[0]), target].mean()


def accuracy(out, yb):
    preds = torch.argmax(out, dim=1)
    return (preds == yb).float().mean()


bs = 32
lr = 0.1
mu = 0.9
epochs = 8
track = []

for epoch in range(epochs):
    order = torch.randperm(n)
    for i in range((n - 1) // bs + 1):
        index = order[i * bs: i * bs + bs]
        xb, yb = x_train[index], y_train[index]
        pred = model(xb)
        loss = nll(pred, yb)
        for p in params:
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p, v in zip(params, velocity):
                v *= mu
                v += p.grad
                p -= lr * v
        track.append((lr * W1.grad.std() / W1.data.std()).log10().item())
    lr *= 0.8
    with torch.no_grad():
        valid = model(x_valid)
        print(epoch, "loss %.6f valid %.6f accuracy %.4f update ratio %.4f"
              % (loss.item(), nll(valid, y_valid), accuracy(valid, y_valid), sum(track[-20:]) / 20))

print(len(track), "updates, final gradient norm", W2.grad.norm().item())
sha = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params))
print("weights", sha.hexdigest()[:16])
