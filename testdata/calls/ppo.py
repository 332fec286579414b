"""Rollouts into arrays, then epochs over shuffled mini-batches of them."""
import gymnasium as gym
import numpy as np
import torch

envs = gym.vector.SyncVectorEnv([make_env(i) for i in range(4)])
agent = Agent(envs)
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
obs = torch.zeros((128, 4, 8))
actions = torch.zeros((128, 4))
rewards = torch.zeros((128, 4))
values = torch.zeros((128, 4))
global_step = 0
next_obs = torch.Tensor(envs.reset()[0])
clipfracs = []

for update in range(1, 100):
    optimizer.param_groups[0]["lr"] = (1 - update / 100) * 2.5e-4
    for step in range(128):
        global_step += 4
        obs[step] = next_obs
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step] = value.flatten()
        actions[step] = action
        next_obs, reward, done, _, info = envs.step(action.cpu().numpy())
        rewards[step] = torch.tensor(reward).view(-1)
        next_obs = torch.Tensor(next_obs)
    advantages = torch.zeros_like(rewards)
    lastgaelam = 0
    for t in reversed(range(128)):
        advantages[t] = lastgaelam = rewards[t] - values[t] + 0.99 * 0.95 * lastgaelam
    b_inds = np.arange(512)
    for epoch in range(4):
        np.random.shuffle(b_inds)
        for start in range(0, 512, 128):
            mb = b_inds[start:start + 128]
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(obs.reshape(-1, 8)[mb], actions.reshape(-1)[mb])
            approx_kl = (newlogprob.exp() - 1).mean()
            clipfracs += [approx_kl.item()]
            loss = newvalue.pow(2).mean() - 0.01 * entropy.mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
        if approx_kl > 0.02:
            break
    print(global_step, approx_kl.item(), np.mean(clipfracs))
