# florc: exact
import gymnasium as gym
from stable_baselines3 import PPO

env = gym.make("CartPole-v1")
model = PPO("MlpPolicy", env, seed=0, n_steps=128, device="cpu")
for stage in range(2):
    model.learn(total_timesteps=512, reset_num_timesteps=False)
    print("stage", stage, model.num_timesteps)
+    print("PROBE", stage, float(sum(p.abs().sum() for p in model.policy.parameters())))
