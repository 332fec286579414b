"""Q-learning: an environment, a replay buffer, a target network, an exploration rate that falls."""
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F

env = gym.make("CartPole-v1")
policy, target = QNet(), QNet()
target.load_state_dict(policy.state_dict())
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
memory = deque(maxlen=10000)
eps, steps_done = 1.0, 0
returns = []

for episode in range(200):
    state, _ = env.reset()
    done, total = False, 0.0
    while not done:
        if random.random() < eps:
            action = env.action_space.sample()
        else:
            action = policy(torch.as_tensor(state)).argmax().item()
        nxt, reward, terminated, truncated, _ = env.step(action)
        done = terminated or truncated
        memory.append((state, action, reward, nxt, done))
        state = nxt
        total += reward
        steps_done += 1
        if len(memory) >= 64:
            batch = random.sample(memory, 64)
            s, a, r, s2, d = map(np.array, zip(*batch))
            q = policy(torch.as_tensor(s)).gather(1, torch.as_tensor(a)[:, None])
            with torch.no_grad():
                expected = torch.as_tensor(r) + 0.99 * target(torch.as_tensor(s2)).max(1)[0]
            loss = F.smooth_l1_loss(q.squeeze(), expected)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if steps_done % 500 == 0:
            target.load_state_dict(policy.state_dict())
    eps = max(0.05, eps * 0.99)
    returns.append(total)
    print(episode, total, eps)
