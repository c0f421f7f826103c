"""Steps a second of rlgo/Rewrite-v0 and of its vector form next to the C++ environment's, at the same random actions.

    PYTHONPATH=build/release/python python3 tests/bench/gym_env.py [GRAPH...]
"""

import os
import sys
import time

import gymnasium
import numpy as np
import rlgo.gym
from rlgo import _core

STEPS, EPISODE, ENVS = 400, 50, 8


def single(graph):
    """(seconds of Python's environment, its actions as pairs, the environment)"""
    env = gymnasium.make("rlgo/Rewrite-v0", graph=graph, max_steps=EPISODE, disable_env_checker=True).unwrapped
    env.reset(seed=1)
    pairs, seconds = [], 0.0
    for _ in range(STEPS):
        action = int(env.np_random.integers(len(env._native.candidates)))  # NO-OP would make episodes short
        pairs.append(env._native.candidates[action])
        begin = time.perf_counter()
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
        seconds += time.perf_counter() - begin
    return seconds, pairs, env


def several(graph, threads):
    env = rlgo.gym.RewriteVectorEnv(num_envs=ENVS, graph=graph, max_steps=EPISODE, threads=threads)
    env.reset(seed=1)
    draws, seconds = np.random.default_rng(1), 0.0
    for _ in range(STEPS // ENVS):
        masks = env.action_masks()
        masks[:, -1] = ~masks[:, :-1].any(axis=1)
        actions = np.array([draws.choice(np.flatnonzero(mask)) for mask in masks])
        begin = time.perf_counter()
        env.step(actions)
        seconds += time.perf_counter() - begin
    return seconds


def main():
    threads = len(os.sched_getaffinity(0))
    print(f"steps a second   C++   Gymnasium (share)   {ENVS} in a vector: 1 thread, {threads} threads")
    for graph in sys.argv[1:] or ["toy_residual", "squeezenet1_1", "resnet50", "bert"]:
        seconds, pairs, env = single(graph)
        engine = _core.time_steps(env._native, pairs)
        rates = [STEPS / several(graph, n) for n in (1, threads)]
        print(f"{graph:15} {STEPS / engine:8.0f} {STEPS / seconds:8.0f} ({engine / seconds:4.0%})   {rates[0]:8.0f} {rates[1]:8.0f}")


if __name__ == "__main__":
    main()
