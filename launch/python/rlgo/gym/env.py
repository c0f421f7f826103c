"""One environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces

from .. import _core, _graph
from .._core import CostModel, Graph
from .._kinds import NUMBER, TEXT, WHOLE, WORDS, list_of, takes
from .._model import ModelLike, Sizes
from ..rules import RuleSet, load as load_rules

Observation = dict[str, np.ndarray]
# (max_nodes, max_edges, max_candidates); 0: made from the graph, with space to grow.
Room = tuple[int, int, int]

REWARDS = tuple(_core.rewards())
ACTIONS = ("flat", "pair")
# Of the arguments that an environment and a vector of them take.
KINDS = {
    "cost": TEXT.or_a(CostModel),
    "reward": TEXT,
    "action": TEXT,
    "rules": WORDS.or_a(RuleSet),
    "max_steps": WHOLE,
    "max_locations": WHOLE,
    "weights": list_of(NUMBER),
    "room": list_of(WHOLE),
}


def make_native(
    graph: Graph,
    rules: RuleSet,
    cost: CostModel,
    reward: str,
    max_steps: int,
    max_locations: int,
    weights: Sequence[float],
    room: Room,
) -> Any:
    if reward not in REWARDS:
        raise _core.UsageError(f"reward {reward!r}: expected one of {', '.join(REWARDS)}")
    if len(weights) != 4:
        raise _core.UsageError("weights: expected four numbers, of flops, bytes, peak memory and launches")
    return _core.make_env(graph, rules, cost, reward, int(max_steps), int(max_locations), [float(w) for w in weights], [int(n) for n in room])


def make_spaces(native: Any, action: str) -> tuple[spaces.Dict, spaces.Space]:
    """Observation and action space of a native environment."""
    if action not in ACTIONS:
        raise _core.UsageError(f"action {action!r}: expected one of {', '.join(ACTIONS)}")
    nodes, edges, candidates = native.room
    spec = native.spec

    def numbers(*shape: int) -> spaces.Box:
        return spaces.Box(-np.inf, np.inf, shape, np.float32)

    observation = spaces.Dict(
        {
            "node_op": spaces.Box(-1, spec["ops"] - 1, (nodes,), np.int32),
            "node_feat": numbers(nodes, spec["node_features"]),
            "edges": spaces.Box(-1, nodes - 1, (edges, 2), np.int32),
            "edge_feat": numbers(edges, spec["edge_features"]),
            "globals": numbers(spec["global_features"]),
            "candidates": spaces.Box(-1, max(spec["rules"], spec["max_locations"], nodes), (candidates, 3), np.int32),
            "candidate_change": numbers(candidates),
            "action_mask": spaces.Box(0, 1, (candidates + 1,), np.int8),
        }
    )
    actions: spaces.Space = (
        spaces.Discrete(candidates + 1) if action == "flat" else spaces.MultiDiscrete([spec["rules"] + 1, spec["max_locations"]])
    )
    return observation, actions


def empty_arrays(space: spaces.Dict, count: int) -> Observation:
    """Arrays of `count` observations, to be filled by the engine."""
    return {name: np.empty((count, *box.shape), box.dtype) for name, box in space.spaces.items()}  # type: ignore[union-attr]


def info_of(outcome: Any, initial_us: float) -> dict[str, Any]:
    return {
        "cost_us": outcome.cost_us,
        "initial_cost_us": initial_us,
        "rule": outcome.rule,
        "illegal_action": outcome.illegal,
        "outgrown": outcome.outgrown,
        "candidates_dropped": outcome.dropped,
    }


class RewriteEnv(gymnasium.Env[Observation, Any]):
    """A graph is rewritten, a rule at a place a step, and the reward shows how much cheaper it became.

    graph: zoo graph, ONNX file, onnx.ModelProto, its bytes, or a rlgo.Graph (sizes, dims as for rlgo.load).
    cost: a cost model or its name (rlgo.cost). rules: a RuleSet or words (rlgo.rules.load).
    reward: in percent of the unmodified graph's cost. R1: decrease of cost by each step; R2: the same at the end
        only; R3: R1 plus `weights` times the relative decrease of flops, bytes, peak memory and launches; R4: decrease of the
        whole graph's latency by each step, timed in the runtime that `cost` names; latency: the same, but what is within the
        error of the timings, or fails, earns 0; R5: what a step adds to the episode's best.
    action: "flat": index of a candidate in the observation, the last (max_candidates) is NO-OP, which ends the episode;
        "pair": (rule, location), where (number of rules, anything) is NO-OP.
    max_steps: after which an episode is truncated. max_locations: of one rule that are offered.
    room: (nodes, edges, candidates) of the arrays; 0: one and a half times what the unmodified graph needs. A graph that
        outgrows nodes or edges truncates its episode (info["outgrown"]); candidates beyond the room are left out, second
        places of a rule before first ones (info["candidates_dropped"]).
    illegal: "ignore": an illegal action changes nothing but counts as a step (reward 0, info["illegal_action"]);
        "raise": ValueError. Agents should mask: action_masks(), or observation["action_mask"].

    Observation: dict of padded arrays. N nodes in topological order (constants left out), E edges, C candidates:
        node_op [N] int32, operator ids (rlgo.gym names them: operator_names()), -1 beyond the graph
        node_feat [N, F] float32; edges [E, 2] int32 (producing node, reading node), -1 beyond; edge_feat [E, G] float32
        globals [H] float32
        candidates [C, 3] int32 (rule, location, node at the root), -1 beyond
        candidate_change [C] float32: exact change of the cost by the rewrite, percent of the unmodified graph's;
            negative is cheaper
        action_mask [C + 1] int8
    """

    metadata = {"render_modes": ["svg", "rgb_array"], "render_fps": 2}

    @takes(**KINDS, illegal=TEXT, render_mode=TEXT)
    def __init__(
        self,
        graph: Graph | ModelLike = "toy_residual",
        *,
        cost: str | CostModel = "cpu",
        reward: str = "R1",
        action: str = "flat",
        rules: RuleSet | str | Sequence[str] | None = None,
        max_steps: int = 200,
        max_locations: int = 200,
        weights: Sequence[float] = (0.1, 0.1, 0.1, 0.1),
        room: Room = (0, 0, 0),
        illegal: str = "ignore",
        sizes: Sizes | None = None,
        dims: Sizes | None = None,
        render_mode: str | None = None,
    ):
        if illegal not in ("ignore", "raise"):
            raise _core.UsageError(f"illegal {illegal!r}: expected ignore or raise")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise _core.UsageError(f"render_mode {render_mode!r}: expected one of {', '.join(self.metadata['render_modes'])}")
        self.rules = rules if isinstance(rules, RuleSet) else load_rules(rules)
        self.render_mode = render_mode
        self.action = action
        self._raises = illegal == "raise"
        self._set_native(
            make_native(_graph.as_graph(graph, sizes=sizes, dims=dims), self.rules, _graph.as_cost(cost), reward, max_steps, max_locations, weights, room)
        )

    def _set_native(self, native: Any) -> None:
        self._native = native
        self.observation_space, self.action_space = make_spaces(native, self.action)

    # --- Gymnasium ---------------------------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Back to the unmodified graph."""
        super().reset(seed=seed)
        outcome = self._native.reset(0 if seed is None else seed)
        if outcome.outgrown:
            raise _core.UsageError(f"room {tuple(self._native.room)}: the unmodified graph is larger")
        return self._observe(), info_of(outcome, self._native.initial_cost_us)

    def step(self, action: Any) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        if self.action == "flat":
            outcome = self._native.step_index(int(action))
        else:
            rule, location = (int(a) for a in action)
            outcome = self._native.step(rule, location)
        if outcome.illegal and self._raises:
            raise ValueError(f"illegal action {action}: action_masks() shows the legal ones")
        return self._observe(), float(outcome.reward), outcome.terminal, outcome.truncated, info_of(outcome, self._native.initial_cost_us)

    def render(self) -> Any:
        """"svg": text of an <svg> with what changed marked; "rgb_array": [height, width, 3] uint8 (needs Pillow)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without render_mode: make the environment with render_mode='svg' or 'rgb_array'")
            return None
        if self.render_mode == "svg":
            return self.graph.svg(before=self._native.initial_graph)
        from .picture import rgb

        return rgb(self.graph.drawing(self._native.initial_graph))

    def _observe(self) -> Observation:
        arrays = empty_arrays(self.observation_space, 1)  # type: ignore[arg-type]
        self._native.write(arrays)
        return {name: array[0] for name, array in arrays.items()}

    # --- what agents need --------------------------------------------------------------------------------------------

    def action_masks(self) -> np.ndarray:
        """Legal actions as booleans (the name that sb3-contrib looks for). "flat": [max_candidates + 1]. "pair":
        [rules + 1 + max_locations], rules with a place behind one another with the locations that some rule has."""
        count = len(self._native.candidates)
        if self.action == "flat":
            mask = np.zeros(self._native.room[2] + 1, bool)
            mask[:count] = True
            mask[-1] = True
            return mask
        counts = np.asarray(self._native.counts)
        rules = np.append(counts > 0, True)
        locations = np.arange(self._native.spec["max_locations"]) < max(1, int(counts.max(initial=0)))
        return np.concatenate([rules, locations])

    def sample_legal(self) -> Any:
        """A legal action, drawn evenly from the candidates and NO-OP by this environment's random numbers."""
        choice = int(self.np_random.integers(len(self._native.candidates) + 1))
        last = choice == len(self._native.candidates)
        if self.action == "flat":
            return self._native.room[2] if last else choice
        return np.array((self._native.spec["rules"], 0) if last else self._native.candidates[choice], np.int64)

    def candidates(self) -> list[tuple[str, int, float]]:
        """Legal rewrites: (rule, location, change of the cost in percent of the unmodified graph's), by flat index."""
        names = self._native.rule_names
        return [(names[rule], location, change) for (rule, location), change in zip(self._native.candidates, self._native.changes)]

    def fork(self) -> RewriteEnv:
        """An environment of its own in this state: O(size of the graph), no match is looked for again. Its random numbers
        continue from the same state."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._native = self._native.fork()
        if self._np_random is not None:
            copy._np_random = np.random.Generator(type(self._np_random.bit_generator)())
            copy._np_random.bit_generator.state = self._np_random.bit_generator.state
        return copy

    def validate(self) -> dict[str, Any]:
        """Applies the trace again from the unmodified graph: {"valid", "error", "steps"}; valid is that it leads to the
        same graph, whose invariants hold."""
        return self._native.validate()

    # --- state -------------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """As it is now."""
        return self._native.graph

    @property
    def initial_graph(self) -> Graph:
        return self._native.initial_graph

    @property
    def trace(self) -> list[tuple[str, int]]:
        """Rewrites since reset(): (rule, location); see rlgo.rules.replay."""
        names = self._native.rule_names
        return [(names[rule], location) for rule, location in self._native.trace]

    @property
    def cost_us(self) -> float:
        return self._native.cost_us

    @property
    def initial_cost_us(self) -> float:
        return self._native.initial_cost_us

    @property
    def rule_names(self) -> list[str]:
        """By rule number; NO-OP is the number behind the last."""
        return self._native.rule_names
