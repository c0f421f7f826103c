"""Many environments, stepped by threads of the engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .. import _core, _graph
from .._core import CostModel, Graph
from .._kinds import WHOLE, takes
from .._model import ModelLike
from ..rules import RuleSet, load as load_rules
from .env import KINDS, Observation, Room, empty_arrays, make_native, make_spaces


class RewriteVectorEnv(VectorEnv[Observation, Any, np.ndarray]):
    """`num_envs` environments of one graph, or of several in turn, in one process.

    graph: one graph, or a list: environment k gets graph k modulo their number, all with the room of the largest.
    threads: that step side by side; 0: as many as environments or processors, whichever is less.
    Other arguments and the observation are those of RewriteEnv, with the environments as first axis. An episode that has
    ended starts again at the next step, whose action is not taken and whose reward is 0 (AutoresetMode.NEXT_STEP).
    info: arrays "cost_us", "initial_cost_us", "illegal_action", "outgrown", "candidates_dropped" by environment.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    @takes(**KINDS, num_envs=WHOLE, threads=WHOLE)
    def __init__(
        self,
        num_envs: int = 1,
        graph: Graph | ModelLike | Sequence[Graph | ModelLike] = "toy_residual",
        *,
        threads: int = 0,
        cost: str | CostModel = "cpu",
        reward: str = "R1",
        action: str = "flat",
        rules: RuleSet | str | Sequence[str] | None = None,
        max_steps: int = 200,
        max_locations: int = 200,
        weights: Sequence[float] = (0.1, 0.1, 0.1, 0.1),
        room: Room = (0, 0, 0),
        **unknown: Any,
    ):
        if unknown.pop("render_mode", None) is not None or unknown:
            raise _core.UsageError(f"the vector environment takes no {', '.join(unknown) or 'render_mode'}")
        if num_envs < 1:
            raise _core.UsageError(f"num_envs is {num_envs}; expected at least 1")
        models = list(graph) if isinstance(graph, (list, tuple)) else [graph]
        graphs = [_graph.as_graph(one) for one in models]
        self.rules = rules if isinstance(rules, RuleSet) else load_rules(rules)
        prices = _graph.as_cost(cost)

        def make(one: Graph, its_room: Room) -> Any:
            return make_native(one, self.rules, prices, reward, max_steps, max_locations, weights, its_room)

        first = [make(one, room) for one in graphs]
        self.room: Room = tuple(max(sizes) for sizes in zip(*(e.room for e in first)))  # type: ignore[assignment]
        if any(tuple(e.room) != self.room for e in first):
            first = [make(one, self.room) for one in graphs]
        self._envs = [first[k] if k < len(first) else first[k % len(first)].fork() for k in range(num_envs)]
        processors = len(os.sched_getaffinity(0))
        self._batch = _core.make_batch(self._envs, threads or min(num_envs, processors))
        self.num_envs = num_envs
        self.action = action
        self.single_observation_space, self.single_action_space = make_spaces(first[0], action)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._initial_us = np.array([e.initial_cost_us for e in self._envs])

    def reset(self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """options: {"reset_mask": booleans}: only these start again (the others' observations are as they were)."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        seeds = seed if isinstance(seed, (list, tuple)) else [None if seed is None else seed + k for k in range(self.num_envs)]
        which = np.ones(self.num_envs, bool) if not options or "reset_mask" not in options else np.asarray(options["reset_mask"], bool)
        arrays = empty_arrays(self.single_observation_space, self.num_envs)  # type: ignore[arg-type]
        outcomes = self._batch.reset(which.astype(np.uint8).tolist(), [s or 0 for s in seeds], arrays)
        for k in np.flatnonzero(~which):
            self._envs[k].write({name: array[k : k + 1] for name, array in arrays.items()})
        return arrays, self._info(outcomes)

    def step(self, actions: Any) -> tuple[Observation, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        arrays = empty_arrays(self.single_observation_space, self.num_envs)  # type: ignore[arg-type]
        chosen = np.ascontiguousarray(np.asarray(actions, np.int64).reshape(self.num_envs, -1))
        outcomes = self._batch.step(chosen, arrays)
        rewards = np.array([o.reward for o in outcomes], np.float64)
        terminated = np.array([o.terminal for o in outcomes], bool)
        truncated = np.array([o.truncated for o in outcomes], bool)
        return arrays, rewards, terminated, truncated, self._info(outcomes)

    def action_masks(self) -> np.ndarray:
        """[num_envs, max_candidates + 1] booleans, of flat actions."""
        masks = np.zeros((self.num_envs, self.room[2] + 1), bool)
        masks[:, -1] = True
        for k, env in enumerate(self._envs):
            masks[k, : len(env.candidates)] = True
        return masks

    def _info(self, outcomes: Sequence[Any]) -> dict[str, Any]:
        present = np.ones(self.num_envs, bool)
        info: dict[str, Any] = {
            "cost_us": np.array([o.cost_us for o in outcomes]),
            "initial_cost_us": self._initial_us,
            "illegal_action": np.array([o.illegal for o in outcomes]),
            "outgrown": np.array([o.outgrown for o in outcomes]),
            "candidates_dropped": np.array([o.dropped for o in outcomes]),
        }
        info.update({f"_{key}": present for key in list(info)})
        return info
