# florc: exact
# florc: again outer = nothing
# florc: again inner = L2 6 ×
# florc: again callback = L2 6 ×
# florc: again after = nothing
# florc: why = A deque of thousands of small tensors is restored at the speed of its bytes, or the block runs again, whichever is faster.
# florc: longer = range(6) -> range(16)
import collections
import random

import torch
from torch import nn

Step = collections.namedtuple("Step", "state action reward following")
random.seed(1)
torch.manual_seed(1)
memory = collections.deque(maxlen=3000)


class Walk:
    """An agent on a line that wants to be at zero."""

    def reset(self):
        self.place = torch.randn(4)
        return self.place

    def step(self, action):
        self.place = self.place + 0.1 * (2 * action - 1) + 0.01 * torch.randn(4)
        return self.place, -float(self.place.norm())


def chosen(net, state, share):
    if random.random() < share:
        return random.randrange(2)
    values = net(state)
+    print("PROBE callback", values.tolist())
    return int(values.argmax())


net = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
world = Walk()
for episode in range(6):
    state, total = world.reset(), 0.0
    for step in range(150):
        action = chosen(net, state, 0.5 / (1 + episode))
        following, reward = world.step(action)
        memory.append(Step(state, action, reward, following))
        state, total = following, total + reward
        if len(memory) < 64:
            continue
        rows = random.sample(memory, 64)
        states, followings = (torch.stack([getattr(row, name) for row in rows]) for name in ("state", "following"))
        actions, rewards = torch.tensor([row.action for row in rows]), torch.tensor([row.reward for row in rows])
        with torch.no_grad():
            wanted = rewards + 0.9 * net(followings).max(1).values
        loss = nn.functional.smooth_l1_loss(net(states)[torch.arange(64), actions], wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
+        print("PROBE inner", episode, step, loss.item())
    print("episode", episode, total, len(memory))
+    print("PROBE outer", episode, sum(float(row.state.double().norm()) for row in memory))
print("last", memory[-1].reward)
+print("PROBE after", len(memory), [float(p.detach().double().sum()) for p in net.parameters()])
