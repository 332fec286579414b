import gymnasium
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback


class Seen(BaseCallback):
    def _on_step(self):
        # in _on_step
        return True

    def _on_rollout_end(self):
        # in _on_rollout_end
        pass


model = DQN("MlpPolicy", gymnasium.make("CartPole-v1"), seed=0, learning_starts=32, train_freq=16, device="cpu")
model.learn(total_timesteps=96, callback=Seen())
print("steps", model.num_timesteps)
# behind the training
