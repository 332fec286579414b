"""REINFORCE with a baseline on a windy corridor, without any reinforcement learning library."""
import argparse
import hashlib
from collections import deque
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

parser = argparse.ArgumentParser(description="PyTorch REINFORCE example")
parser.add_argument("--gamma", type=float, default=0.97)
parser.add_argument("--seed", type=int, default=543)
parser.add_argument("--log-interval", type=int, default=10)
args = parser.parse_args()


class Corridor:
    """Reach the right end; the wind blows left, harder in the middle."""

    def __init__(self, length=8):
        self.length = length
        self.rng = np.random.default_rng(args.seed)

    def reset(self):
        self.place, self.t = self.rng.uniform(0, 2), 0
        return self.observe()

    def observe(self):
        x = self.place / self.length
        return np.array([x, x * x, np.sin(3 * x), self.t / 60], dtype=np.float32)

    def step(self, action):
        wind = self.rng.normal(0.2 * np.sin(np.pi * self.place / self.length), 0.2)
        self.place = max(0.0, self.place + 0.8 * (action - 1) - wind)
        self.t += 1
        done = self.place >= self.length
        return self.observe(), 10.0 if done else -0.1, bool(done), {}


env = Corridor()
torch.manual_seed(args.seed)
torch.set_num_threads(1)


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 64)
        self.dropout = nn.Dropout(p=0.1)
        self.affine2 = nn.Linear(64, 3)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = self.affine1(x)
        x = self.dropout(x)
        x = F.relu(x)
        action_scores = self.affine2(x)
        return F.softmax(action_scores, dim=1)


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
eps = np.finfo(np.float32).eps.item()


def select_action(state):
    state = torch.from_numpy(state).float().unsqueeze(0)
    probs = policy(state)
    m = Categorical(probs)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode():
    R = 0
    policy_loss = []
    returns = deque()
    for r in policy.rewards[::-1]:
        R = r + args.gamma * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]


def main():
    running_reward = 0
    for i_episode in count(1):
        state, ep_reward = env.reset(), 0
        for t in range(1, 60):  # Don't infinite loop while learning
            action = select_action(state)
            state, reward, done, _ = env.step(action)
            policy.rewards.append(reward)
            ep_reward += reward
            if done:
                break
        running_reward = 0.05 * ep_reward + (1 - 0.05) * running_reward
        finish_episode()
        if i_episode % args.log_interval == 0:
            print("Episode {}\tLast reward: {:.2f}\tAverage reward: {:.2f}".format(
                i_episode, ep_reward, running_reward))
        if running_reward > 8.0 or i_episode >= 90:
            print("Stopped at {:.2f} after {} steps in the last episode".format(running_reward, t))
            break


if __name__ == "__main__":
    main()
    sha = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in policy.parameters()))
    print("weights", sha.hexdigest()[:16])
