"""Targets, containers and built-in functions that reach into objects."""
import torch
def train(net, opt, loader, hist=None):
    hist = hist if hist is not None else []
    p0 = list(net.parameters())[0]
    views = {"w": p0.view(-1), "d": p0.detach()}
    it = zip(loader, range(3))
    for (x, y), i in it:
        views["w"].add_(1)
        hist.append(i)
        sub = net.fc
        sub.bias.data[0] += 1
        head, *tail = net.layers
        head.reset_parameters()
        for t in tail:
            t.weight.data = t.weight.data * 2
        opt.param_groups[0]["lr"] *= 0.9
        for g in opt.param_groups:
            g["lr"] = 0.1
        setattr(net, "count", i)
        getattr(net, "buf").add_(1)
        net.state_dict()["x"].copy_(y)
        vars(net)["z"] = 1
    return hist
def train2(net, opt, loader):
    global steps
    for x, y in loader:
        out = net(x)
        steps += 1
        net.counter += 1
        (net.a, net.b), c = y, x
        del net.tmp
        net.items[0], z = 1, 2
        print(f"{net.log.append(1)} {opt.step()}")
        match x:
            case [a, b]:
                net.best = a
        while (nxt := net.queue.pop()) is not None:
            opt.seen.add(nxt)
steps = 0
for e in range(3):
    train(net, opt, loader, hist)
    train2(net, opt, loader)
