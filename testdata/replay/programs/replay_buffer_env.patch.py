# florc: restores = any
import time, random, collections
random.seed(0)
class Env:
    def __init__(self): self.x = 0
    def reset(self): self.x = 0; return self.x
    def step(self, a):
        self.x += a; return self.x, -abs(self.x), abs(self.x) > 3
env = Env()
buffer = collections.deque(maxlen=10)
q = collections.defaultdict(float)
eps = 1.0
for episode in range(4):
    s = env.reset()
    done = False
    steps = 0
    while not done and steps < 6:
        time.sleep(0)
        a = random.choice([-1, 1]) if random.random() < eps else max([-1, 1], key=lambda k: q[s, k])
        t, r, done = env.step(a)
        buffer.append((s, a, r, t))
        for bs, ba, br, bt in random.sample(list(buffer), min(3, len(buffer))):
            q[bs, ba] += 0.1 * (br + 0.9 * max(q[bt, -1], q[bt, 1]) - q[bs, ba])
        s = t
        eps *= 0.95
        steps += 1
    print(episode, steps, round(eps, 4))
+    print("PROBE", s, done, steps, eps, sorted(q.items()), list(buffer)[-1])
