"""An agent that steps its environment, fills its buffer and learns, method by method."""
import torch, random
import numpy as np
class ReplayBuffer:
    def __init__(self, cap):
        self.storage, self.cap, self.pos = [], cap, 0
    def push(self, *item):
        if len(self.storage) < self.cap: self.storage.append(None)
        self.storage[self.pos] = item
        self.pos = (self.pos + 1) % self.cap
    def sample(self, n):
        return zip(*random.sample(self.storage, n))
class Agent:
    def __init__(self, env, seed):
        self.env = env; self.buffer = ReplayBuffer(1000); self.steps = 0
        self.q = torch.nn.Linear(4, 2); self.target = torch.nn.Linear(4, 2)
        self.opt = torch.optim.Adam(self.q.parameters())
        self.rng = np.random.RandomState(seed)
        self.eps = 1.0
    def act(self, s):
        self.steps += 1
        self.eps = max(0.05, self.eps * 0.999)
        if self.rng.rand() < self.eps:
            return self.env.action_space.sample()
        return int(self.q(s).argmax())
    def learn(self):
        if len(self.buffer.storage) < 32: return
        s, a, r, s2, d = self.buffer.sample(32)
        loss = self.q(torch.stack(s)).sum()
        self.opt.zero_grad(); loss.backward(); self.opt.step()
        if self.steps % 100 == 0:
            for tp, p in zip(self.target.parameters(), self.q.parameters()):
                tp.data.copy_(0.99 * tp.data + 0.01 * p.data)
    def run_episode(self):
        s = self.env.reset()
        total = 0
        while True:
            a = self.act(s)
            s2, r, done, _ = self.env.step(a)
            self.buffer.push(s, a, r, s2, done)
            self.learn()
            s = s2; total += r
            if done: break
        return total
agent = Agent(env, 0)
scores = []
for ep in range(100):
    scores.append(agent.run_episode())
    if np.mean(scores[-10:]) > 195: break
