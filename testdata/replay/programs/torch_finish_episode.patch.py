# florc: restores = no
import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

policy = nn.Linear(4, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
rewards, log_probs = [], []
running = 0.0
def finish_episode():
    loss = torch.stack([-lp * r for lp, r in zip(log_probs, rewards)]).sum()
    opt.zero_grad(); loss.backward(); opt.step()
    del rewards[:], log_probs[:]
def main():
    global running
    for episode in range(3):
        state = torch.randn(4)
        for t in range(4):
            time.sleep(0)
            dist = torch.distributions.Categorical(torch.softmax(policy(state), 0))
            action = dist.sample()
            log_probs.append(dist.log_prob(action))
            rewards.append(float(action) + 0.1 * t)
            state = state * 0.9
        running = 0.5 * running + 0.5 * sum(rewards)
        finish_episode()
        print(running)
+        print("PROBE", running, policy.weight.norm().item())
main()
