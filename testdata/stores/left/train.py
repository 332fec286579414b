import random
import time

random.seed(6)
weight, history = 0.0, []


def step():
    global weight
    weight = 0.9 * weight + random.random()
    time.sleep(0.01)


def evaluate(times):
    total = 0.0
    for _ in range(times):
        step()
        total += weight
        print("part", total)
    return total


for epoch in range(9):
    for _ in range(5):
        step()
    print("epoch", epoch, weight)
    if epoch == 3:
        break
print("left", evaluate(3))
for fold in range(3):
    for _ in range(4):
        step()
    history.append(weight)
    try:
        for _ in range(4):
            step()
            if fold == 1:
                raise ValueError
    except ValueError:
        history.append(-1.0)
    print("fold", fold, weight)
left = 3
while left:
    for _ in range(4):
        step()
    left -= 1
    print("to go", left, weight)
print("done", len(history), evaluate(2))
