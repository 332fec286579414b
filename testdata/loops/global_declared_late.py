"""`global` after the loop: the name must not stand in the function's text before it."""

count = 0


def bump():
    global count
    count += 1


def run(loader, net):
    for epoch in range(3):
        for batch in loader:
            net.fit(batch)
            bump()
        print(epoch)
    for batch in loader:
        global count
        count -= net.score(batch)
    return count
