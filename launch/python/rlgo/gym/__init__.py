"""Rewriting graphs as a Gymnasium environment, for agents of your own (docs/gymnasium.md).

    import gymnasium, rlgo.gym
    env = gymnasium.make("rlgo/Rewrite-v0", graph="resnet50", cost="cpu", reward="R1")
    observation, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(env.unwrapped.sample_legal())

Importing rlgo.gym makes the name known to Gymnasium; so does gymnasium.make("rlgo.gym:rlgo/Rewrite-v0").
"""

from .._core import edge_feature_names, global_feature_names, node_feature_names, operator_names
from .env import RewriteEnv, make_spaces
from .vector import RewriteVectorEnv
from .wrappers import CompositeActions, CycleGraphs, GraphObservation

__all__ = ["CompositeActions", "CycleGraphs", "GraphObservation", "RewriteEnv", "RewriteVectorEnv", "make_spaces", "edge_feature_names", "global_feature_names", "node_feature_names", "operator_names", "register_envs"]


def register_envs() -> None:
    """Registers rlgo/Rewrite-v0 with Gymnasium; more calls do no harm."""
    import gymnasium

    if "rlgo/Rewrite-v0" not in gymnasium.registry:
        gymnasium.register(
            id="rlgo/Rewrite-v0", entry_point="rlgo.gym.env:RewriteEnv", vector_entry_point="rlgo.gym.vector:RewriteVectorEnv"
        )



register_envs()
