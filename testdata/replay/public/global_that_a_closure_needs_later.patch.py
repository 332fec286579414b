# florc: restores = any
import random, time

def make_task():
    def sample(n):
        return [rng.random() for _ in range(n)]
    return sample

def step(fn, w):
    time.sleep(0)
    return w - 0.1 * fn(w)

def train(fn, w):
    for it in range(3):
        for b in range(5):
            w = step(fn, w)
+        print("PROBE", it, w)
    return w

w = 1.0
for rnd in range(3):
    w = train(lambda v: 2 * v, w)
    print(rnd, w)
rng = random.Random(4)
for it in range(3):
    print(sum(make_task()(10)))
