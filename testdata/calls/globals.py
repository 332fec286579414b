"""Functions without arguments that work on globals."""
step = 0
buffer = []


def remember(value):
    global step
    step += 1
    buffer.append(value)


def run():
    for episode in range(3):
        for action in policy.actions():
            remember(environment.step(action))


run()
print(step, len(buffer))
