"""A function that the loop calls reads a global, and binds it anew."""
weights = [0.0] * 10
names = {"a": 1.0}


def step():
    global weights, names
    weights = [weight + 1 for weight in weights]
    names = {name: value - 0.1 for name, value in names.items()}


def fit():
    for epoch in range(3):
        for batch in range(5):
            step()
        print(weights[1], names)


fit()
