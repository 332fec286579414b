for epoch in[1, 2]:
    for batch in(loader):
        optimizer.step()
    while-1 < lr:
        lr = schedule.step(lr)
    print(epoch)
