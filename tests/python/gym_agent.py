"""An agent of somebody's own, learning in rlgo/Rewrite-v0, beats a random one: policy gradients (Williams 1992) over a
linear score of each candidate, in NumPy."""

import sys

import _package  # noqa: F401
import gymnasium
import numpy as np
import rlgo.gym  # noqa: F401

RULES = 40  # the first rules have a weight each, which those behind them share


class Agent:
    """Scores a candidate by its rule, its node's features and its change of cost; NO-OP by a constant."""

    def __init__(self, features, seed):
        self.weights = np.zeros(RULES + features + 2)
        self.random = np.random.default_rng(seed)

    def rows(self, observation):
        candidates = observation["candidates"]
        candidates = candidates[candidates[:, 0] >= 0]
        rows = np.zeros((len(candidates) + 1, len(self.weights)))
        rows[np.arange(len(candidates)), np.minimum(candidates[:, 0], RULES - 1)] = 1
        rows[:-1, RULES:-2] = observation["node_feat"][candidates[:, 2]] / 4
        rows[:-1, -2] = np.clip(observation["candidate_change"][: len(candidates)] / 5, -2, 2)
        rows[-1, -1] = 1
        return rows

    def act(self, observation):
        """(flat action, gradient of the log-probability)"""
        rows = self.rows(observation)
        scores = rows @ self.weights
        p = np.exp(scores - scores.max())
        p /= p.sum()
        k = self.random.choice(len(p), p=p)
        return (k if k < len(p) - 1 else len(observation["action_mask"]) - 1), rows[k] - p @ rows

    def learn(self, episodes, rate=0.5):
        """episodes: (gradients, rewards) each; the baseline is the mean of the returns from each step on."""
        returns = [np.cumsum(rewards[::-1])[::-1] for _, rewards in episodes]
        longest = max(len(r) for r in returns)
        baseline = [np.mean([r[t] if t < len(r) else 0.0 for r in returns]) for t in range(longest)]
        step = sum(g * (r - b) for (gradients, _), ret in zip(episodes, returns) for g, r, b in zip(gradients, ret, baseline))
        scale = np.std(np.concatenate(returns)) + 1e-6
        self.weights += rate * step / (scale * len(episodes))


def episode(env, agent):
    observation, _ = env.reset()
    gradients, rewards, done = [], [], False
    while not done:
        action, gradient = agent.act(observation)
        observation, reward, terminated, truncated, _ = env.step(action)
        gradients.append(gradient)
        rewards.append(float(reward))
        done = terminated or truncated
    return gradients, np.array(rewards)


def mean_return(env, agent, count=60):
    return float(np.mean([episode(env, agent)[1].sum() for _ in range(count)]))


def main():
    env = gymnasium.make("rlgo/Rewrite-v0", graph="toy_residual", max_steps=15, disable_env_checker=True)
    agent = Agent(env.observation_space["node_feat"].shape[1], seed=1)
    random = mean_return(env, agent)  # all weights 0: every legal action is as likely
    for _ in range(40):
        agent.learn([episode(env, agent) for _ in range(12)])
    learned = mean_return(env, agent)
    print(f"saved of the cost: {random:.2f} % at random, {learned:.2f} % learned")
    return 0 if learned > random + 5 and learned > 10 else 1


if __name__ == "__main__":
    sys.exit(main())
