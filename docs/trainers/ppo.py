import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.policies import ActorCriticPolicy


class Policy(ActorCriticPolicy):
    def forward(self, observed, deterministic=False):
        # in forward
        return super().forward(observed, deterministic)


class Seen(BaseCallback):
    def _on_rollout_start(self):
        # in _on_rollout_start
        pass

    def _on_step(self):
        # in _on_step
        return True

    def _on_rollout_end(self):
        # in _on_rollout_end
        pass


model = PPO(Policy, gymnasium.make("CartPole-v1"), seed=0, n_steps=64, n_epochs=2, device="cpu")
model.learn(total_timesteps=192, callback=Seen())
print("steps", model.num_timesteps)
# behind the training
