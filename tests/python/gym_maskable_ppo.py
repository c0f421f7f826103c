"""sb3-contrib's MaskablePPO takes the environment as it is, and beats a random agent. Skipped where torch cannot be imported:
set-up installs PyPI's torch without the CUDA libraries of its own that it wants on import, where there is no toolkit."""

import sys
import warnings

import _package  # noqa: F401
import gymnasium
import numpy as np
import rlgo.gym  # noqa: F401

try:
    import torch
except (ImportError, OSError) as error:
    print(f"torch cannot be imported: {error}")
    sys.exit(77)
from sb3_contrib import MaskablePPO


def mean_return(env, choose, count=40):
    returns = []
    for _ in range(count):
        observation, _ = env.reset()
        total, done = 0.0, False
        while not done:
            observation, reward, terminated, truncated, _ = env.step(choose(observation))
            total += float(reward)
            done = terminated or truncated
        returns.append(total)
    return float(np.mean(returns))


def main():
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    env = gymnasium.make("rlgo/Rewrite-v0", graph="toy_residual", max_steps=15, disable_env_checker=True)
    # The candidates are what it needs; whole graphs are for graph networks.
    env = gymnasium.wrappers.FilterObservation(env, ["candidate_change", "action_mask", "globals"])
    env.reset(seed=0)
    random = mean_return(env, lambda _: env.unwrapped.sample_legal())
    agent = MaskablePPO("MultiInputPolicy", env, n_steps=256, batch_size=64, n_epochs=5, learning_rate=1e-3, ent_coef=0.01, seed=0, device="cpu")
    agent.learn(total_timesteps=6000)
    learned = mean_return(env, lambda o: agent.predict(o, action_masks=env.unwrapped.action_masks(), deterministic=False)[0])
    print(f"saved of the cost: {random:.2f} % at random, {learned:.2f} % learned by MaskablePPO")
    return 0 if learned > random + 5 and learned > 10 else 1


if __name__ == "__main__":
    sys.exit(main())
