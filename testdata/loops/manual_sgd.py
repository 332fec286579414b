"""Parameters updated by hand through autograd, a Function of one's own, gradients of a penalty."""
import torch
from torch.autograd import Function, grad


class Sign(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() < 1)


w = torch.randn(10, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
params = [w, b]
for epoch in range(30):
    for xb, yb in zip(X.split(32), Y.split(32)):
        loss = ((Sign.apply(xb @ w) + b - yb) ** 2).mean()
        gw, gb = grad(loss, params)
        with torch.no_grad():
            w -= 0.1 * gw
            b.sub_(0.1 * gb)
        for p in params:
            p.data.clamp_(-2, 2)
    print(epoch, loss.item())
