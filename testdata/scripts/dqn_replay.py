# Deep Q-learning with a replay memory and a target network, on a cart-pole
# written out in NumPy.
import hashlib
import math
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class ReplayMemory(object):
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        """Save a transition"""
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class CartPole:
    gravity, length, force, tau = 9.8, 0.5, 10.0, 0.02

    def reset(self):
        self.state = np.random.uniform(-0.05, 0.05, size=4)
        return self.state.astype(np.float32)

    def step(self, action):
        x, x_dot, theta, theta_dot = self.state
        force = self.force if action == 1 else -self.force
        sin, cos = math.sin(theta), math.cos(theta)
        temp = (force + 0.05 * theta_dot ** 2 * sin) / 1.1
        acc = (self.gravity * sin - cos * temp) / (self.length * (4.0 / 3.0 - 0.1 * cos ** 2 / 1.1))
        x_acc = temp - 0.05 * acc * cos / 1.1
        self.state = np.array([x + self.tau * x_dot, x_dot + self.tau * x_acc,
                               theta + self.tau * theta_dot, theta_dot + self.tau * acc])
        done = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21)
        return self.state.astype(np.float32), 1.0, done


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_observations, 48), nn.ReLU(),
                                    nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, n_actions))

    def forward(self, x):
        return self.layers(x)


BATCH_SIZE = 32
GAMMA = 0.99
EPS_START, EPS_END, EPS_DECAY = 0.9, 0.05, 300
TAU = 0.01
LR = 2e-3

random.seed(3)
np.random.seed(3)
torch.manual_seed(3)
torch.set_num_threads(1)

env = CartPole()
policy_net = DQN(4, 2)
target_net = DQN(4, 2)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=LR, amsgrad=True)
memory = ReplayMemory(1000)
steps_done = 0
episode_durations = []


def select_action(state):
    global steps_done
    sample = random.random()
    eps_threshold = EPS_END + (EPS_START - EPS_END) * math.exp(-1. * steps_done / EPS_DECAY)
    steps_done += 1
    if sample > eps_threshold:
        with torch.no_grad():
            return policy_net(state).max(1).indices.view(1, 1)
    else:
        return torch.tensor([[random.randrange(2)]], dtype=torch.long)


def optimize_model():
    if len(memory) < BATCH_SIZE:
        return
    transitions = memory.sample(BATCH_SIZE)
    batch = Transition(*zip(*transitions))
    non_final_mask = torch.tensor(tuple(s is not None for s in batch.next_state), dtype=torch.bool)
    non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
    state_batch = torch.cat(batch.state)
    action_batch = torch.cat(batch.action)
    reward_batch = torch.cat(batch.reward)
    state_action_values = policy_net(state_batch).gather(1, action_batch)
    next_state_values = torch.zeros(BATCH_SIZE)
    with torch.no_grad():
        next_state_values[non_final_mask] = target_net(non_final_next_states).max(1).values
    expected = (next_state_values * GAMMA) + reward_batch
    loss = nn.SmoothL1Loss()(state_action_values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()


for i_episode in range(30):
    state = torch.tensor(env.reset()).unsqueeze(0)
    for t in range(80):
        action = select_action(state)
        observation, reward, done = env.step(action.item())
        reward = torch.tensor([reward])
        next_state = None if done else torch.tensor(observation).unsqueeze(0)
        memory.push(state, action, next_state, reward)
        state = next_state
        optimize_model()

        # soft update of the target network
        target_net_state_dict = target_net.state_dict()
        policy_net_state_dict = policy_net.state_dict()
        for key in policy_net_state_dict:
            target_net_state_dict[key] = policy_net_state_dict[key] * TAU + target_net_state_dict[key] * (1 - TAU)
        target_net.load_state_dict(target_net_state_dict)
        if done:
            episode_durations.append(t + 1)
            break
    else:
        episode_durations.append(80)
    if (i_episode + 1) % 3 == 0:
        print(f"episode {i_episode + 1}: mean duration {np.mean(episode_durations[-3:]):.2f}")

print("Complete", steps_done, len(memory))
sha = hashlib.sha256()
for net in (policy_net, target_net):
    for tensor in net.state_dict().values():
        sha.update(tensor.numpy().tobytes())
print("weights", sha.hexdigest()[:16])
