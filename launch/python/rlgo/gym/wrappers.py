"""Wrappers around rlgo/Rewrite-v0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from .. import _core, _graph
from .._core import Graph
from .._model import ModelLike
from .env import Observation, RewriteEnv


class CycleGraphs(gymnasium.Wrapper):
    """Each episode rewrites another graph: the next of `graphs`, or one drawn where `shuffle`. All have the room of the
    largest, so that observations have one shape. info["graph"] is the number of the graph.

    graphs: as RewriteEnv takes them; arguments: further ones of RewriteEnv.
    """

    def __init__(self, graphs: Sequence[Graph | ModelLike], shuffle: bool = False, **arguments: Any):
        if not graphs:
            raise _core.UsageError("no graph is given")
        loaded = [_graph.as_graph(g) for g in graphs]
        arguments["cost"] = _graph.as_cost(arguments.get("cost", "cpu"))
        envs = [RewriteEnv(graph, **arguments) for graph in loaded]
        room = tuple(max(sizes) for sizes in zip(*(e._native.room for e in envs)))
        self._envs = [RewriteEnv(graph, **{**arguments, "room": room}) for graph in loaded]
        self._shuffle = shuffle
        self._at = -1
        super().__init__(self._envs[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self._draws = np.random.default_rng(seed)
            self._at = -1
        if self._shuffle:
            if not hasattr(self, "_draws"):
                self._draws = np.random.default_rng()
            self._at = int(self._draws.integers(len(self._envs)))
        else:
            self._at = (self._at + 1) % len(self._envs)
        self.env = self._envs[self._at]
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "graph": self._at}

    def action_masks(self) -> np.ndarray:
        return self.env.unwrapped.action_masks()  # type: ignore[attr-defined]


class CompositeActions(gymnasium.Wrapper):
    """Flat actions, and behind them one for each of `composites`: the rules of a list, applied one after the other at
    their cheapest place as long as one of them lowers the cost. One composite is one step of the agent; its reward is the
    sum of its rewrites' rewards, info["rewrites"] how many there were. Where none lowers the cost it is illegal.

    composites: {name: names of rules}.
    """

    def __init__(self, env: gymnasium.Env, composites: Mapping[str, Sequence[str]]):
        super().__init__(env)
        inner: RewriteEnv = env.unwrapped  # type: ignore[assignment]
        if inner.action != "flat":
            raise _core.UsageError("CompositeActions needs an environment with action='flat'")
        known = set(inner.rule_names)
        for name, rules in composites.items():
            for rule in rules:
                if rule not in known:
                    raise _core.UsageError(f"composite {name!r}: no rule of the environment is named {rule!r}")
        self.names = list(composites)
        self._rules = [frozenset(composites[name]) for name in self.names]
        self._simple = int(inner.action_space.n)  # type: ignore[attr-defined]
        self.action_space = spaces.Discrete(self._simple + len(self.names))
        box = inner.observation_space["action_mask"]  # type: ignore[index]
        self.observation_space = spaces.Dict(
            {**inner.observation_space.spaces, "action_mask": spaces.Box(0, 1, (self._simple + len(self.names),), box.dtype)}  # type: ignore[union-attr]
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return self._with_mask(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        if int(action) < self._simple:
            observation, reward, terminated, truncated, info = self.env.step(action)
            return self._with_mask(observation), reward, terminated, truncated, {**info, "rewrites": int(bool(info["rule"]))}
        rules, total, rewrites = self._rules[int(action) - self._simple], 0.0, 0
        while (best := self._best(rules)) is not None:
            observation, reward, terminated, truncated, info = self.env.step(best)
            total += float(reward)
            rewrites += 1
            if terminated or truncated:
                break
        if rewrites == 0:  # as any illegal action
            observation, reward, terminated, truncated, info = self.env.step(-1)
        return self._with_mask(observation), total, terminated, truncated, {**info, "rewrites": rewrites}

    def action_masks(self) -> np.ndarray:
        inner: RewriteEnv = self.unwrapped  # type: ignore[assignment]
        return np.concatenate([inner.action_masks(), [self._best(rules) is not None for rules in self._rules]])

    def _best(self, rules: frozenset[str]) -> int | None:
        inner: RewriteEnv = self.unwrapped  # type: ignore[assignment]
        changes = [(change, k) for k, (rule, _, change) in enumerate(inner.candidates()) if rule in rules and change < 0]
        return min(changes)[1] if changes else None

    def _with_mask(self, observation: Observation) -> Observation:
        return {**observation, "action_mask": self.action_masks().astype(observation["action_mask"].dtype)}


class GraphObservation(gymnasium.ObservationWrapper):
    """The observation without padding, as Gymnasium's Graph space: nodes [n, F + 1] (the operator's id is the first
    column), edges [e, G], edge_links [e, 2]; next to it globals, candidates, candidate_change and action_mask as before."""

    def __init__(self, env: gymnasium.Env):
        super().__init__(env)
        inner = env.observation_space.spaces  # type: ignore[attr-defined]
        features, edge_features = inner["node_feat"].shape[1], inner["edge_feat"].shape[1]
        kept = {name: inner[name] for name in ("globals", "candidates", "candidate_change", "action_mask")}
        graph = spaces.Graph(
            spaces.Box(-np.inf, np.inf, (features + 1,), np.float32), spaces.Box(-np.inf, np.inf, (edge_features,), np.float32)
        )
        self.observation_space = spaces.Dict({"graph": graph, **kept})

    def observation(self, observation: Any) -> Any:
        nodes = int((observation["node_op"] >= 0).sum())
        edges = int((observation["edges"][:, 0] >= 0).sum())
        graph = spaces.GraphInstance(
            nodes=np.concatenate([observation["node_op"][:nodes, None].astype(np.float32), observation["node_feat"][:nodes]], axis=1),
            edges=observation["edge_feat"][:edges] if edges else None,
            edge_links=observation["edges"][:edges] if edges else None,
        )
        kept = {name: observation[name] for name in ("globals", "candidates", "candidate_change", "action_mask")}
        return {"graph": graph, **kept}
