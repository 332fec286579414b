"""Names of a comprehension in a method are not names of the loop that calls it; neither is a global that comes later."""


class Layer:
    def __init__(self, n):
        self.w = torch.randn(n, n, requires_grad=True)

    def parameters(self):
        return [self.w]


class MLP:
    def __init__(self):
        self.layers = [Layer(4), Layer(4)]

    def parameters(self):
        return [p for l in self.layers for p in l.parameters()]


def train(net, step):
    for k in range(3):
        for m in range(4):
            for p in net.parameters():
                p.data -= 0.1 * p.grad
            step(net)
        print(k)


model = MLP()
train(model, adjust)
rng = torch.Generator()


def make_task():
    def sample(n):
        return torch.randn(n, generator=rng)

    return sample
