# florc: exact
# florc: again outer = C1 2 ×
# florc: again after = C1 2 ×
# florc: why = A callback at the end of each rollout: neither steps of the environment nor of the training run again. One rollout is stopped.
# florc: longer = total_timesteps=512 -> total_timesteps=2048
import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback


class Seen(BaseCallback):
    steps = 0

    def _on_step(self):
        self.steps += 1
+        print("PROBE inner", self.num_timesteps, self.locals["rewards"].tolist())
        return self.num_timesteps != 1000

    def _on_rollout_end(self):
        print("rollout", self.num_timesteps)
+        print("PROBE callback", self.steps, sorted(self.locals)[:3], float(self.locals["values"].sum()))
+        print("PROBE callback", sum(p.abs().sum().item() for p in self.model.policy.parameters()))


env = gym.make("CartPole-v1")
model = PPO("MlpPolicy", env, seed=0, n_steps=128, device="cpu")
for stage in range(2):
    model.learn(total_timesteps=512, reset_num_timesteps=False, callback=Seen())
    print("stage", stage, model.num_timesteps)
+    print("PROBE outer", stage, sum(p.abs().sum().item() for p in model.policy.parameters()))
+print("PROBE after", model.num_timesteps, len(model.ep_info_buffer), model.rollout_buffer.pos)
