for f(x) in range(3):
    pass
