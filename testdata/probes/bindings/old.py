"""Names that added statements bind, too: dead ones may be bound, others not."""

for i, p in enumerate(net.parameters()):
    p.data.mul_(1.5)
total = 0
for epoch in range(10):
    for i, batch in enumerate(loader):
        loss = net(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total)


def report():
    print(seen)


seen = 3
report()
