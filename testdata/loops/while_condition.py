# A loop over a condition with a side effect of its own: it is evaluated as often as before.
queue = list(range(10))
while (size := len(queue)) > 0 and not done(size):
    for item in queue.pop():
        work(item)
