"""An added block before one with the same header: the script's own is told by what it holds."""

for epoch in range(10):
    if epoch % 2 == 0:
        print("accuracy", accuracy(net))
    with torch.no_grad():
        sample = net(noise)
        save(sample)
    for name, p in net.named_parameters():
        p.data.clamp_(-1, 1)
