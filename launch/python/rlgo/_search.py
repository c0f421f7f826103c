"""Searches for cheaper graphs, by costs alone: nothing is run, nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from . import _core
from ._core import CostModel, Graph
from ._graph import as_cost, as_graph
from ._kinds import NUMBER, PROGRESS, TEXT, WHOLE, WORDS, takes
from ._model import ModelLike, Sizes, words_of
from ._progress import Bar, Progress
from .rules import RuleSet, load as load_rules


@dataclass(frozen=True)
class SearchResult:
    """The best graph that one search found."""

    method: str
    graph: Graph
    before_us: float  # sum of the operators' costs of the unmodified graph
    after_us: float  # the same of `graph`; never more
    trace: list[tuple[str, int]] = field(repr=False)  # (rule, location) from the unmodified graph on; see rules.replay
    traced: bool = True  # False: `graph` was put together in another way (egraph), and there is no trace
    reason: str = ""  # why the search ended: "finished", "budget", "stopped"
    seconds: float = 0.0
    candidates: int = 0  # graphs that were priced
    curve: list[tuple[float, float]] = field(default_factory=list, repr=False)  # (seconds, best cost in us)
    bound_us: float = 0.0  # egraph: no graph of the e-graph costs less; 0: not known
    optimal: bool = False  # egraph: a graph that costs so much was found

    @property
    def ratio(self) -> float:
        """after_us / before_us: below 1 is cheaper."""
        return self.after_us / self.before_us if self.before_us else 1.0


def methods() -> list[str]:
    """Names of the search methods."""
    return _core.search_methods()


@takes(
    methods=WORDS,
    seconds=NUMBER,
    cost=TEXT.or_a(CostModel),
    rules=WORDS.or_a(RuleSet),
    budget=WHOLE,
    seed=WHOLE,
    threads=WHOLE,
    max_locations=WHOLE,
    alpha=NUMBER,
    beam_width=WHOLE,
    walk_length=WHOLE,
    progress=PROGRESS,
)
def search(
    model: Graph | ModelLike,
    methods: str | Sequence[str] = "taso",
    *,
    seconds: float = 10.0,
    cost: str | CostModel = "cpu",
    rules: RuleSet | str | Sequence[str] | None = None,
    sizes: Sizes | None = None,
    dims: Sizes | None = None,
    budget: int = 50_000,
    seed: int = 0,
    threads: int = 1,
    max_locations: int = 200,
    alpha: float = 1.05,
    beam_width: int = 4,
    walk_length: int = 200,
    progress: Progress = None,
) -> list[SearchResult]:
    """Searches a model's rewrites for a cheaper graph, by each of `methods` from the unmodified graph.

    model: a rlgo.Graph, or what rlgo.load takes (sizes, dims are its).
    seconds: for each method, > 0; budget: rewrites that each may price, >= 1.
    cost: a cost model or its name, see rlgo.cost. rules: see rlgo.rules.load.
    seed: of methods that draw; the rest, and the result for the same budget when time is no limit, is deterministic.
    max_locations: of one rule and graph that are tried. alpha: of taso; beam_width: of beam; walk_length: of random.
    Ctrl-C raises KeyboardInterrupt. Raises rlgo.UsageError for unknown names and values out of range.
    Returns the results in the order of `methods`.
    """
    graph = as_graph(model, sizes=sizes, dims=dims)
    names = words_of(methods)
    if not names:
        raise _core.UsageError("no search method is named")
    if not seconds > 0:
        raise _core.UsageError(f"seconds is {seconds}; expected more than 0")
    rule_set = rules if isinstance(rules, RuleSet) else load_rules(rules)
    prices = as_cost(cost)
    results = []
    for name in names:
        with Bar(progress, seconds) as bar:
            reported = None
            if progress is not False:
                reported = lambda _s, n, us, name=name, bar=bar: bar.show(f"{name}: {n} graphs  best {us / 1000:.3f} ms")  # noqa: E731
            limits = (int(number) for number in (budget, seed, threads, max_locations))
            shape = (float(alpha), int(beam_width), int(walk_length))
            found = _core.search(name, graph, rule_set, prices, float(seconds), *limits, *shape, reported)
        results.append(
            SearchResult(
                method=name,
                graph=found.graph,
                before_us=found.before_us,
                after_us=found.after_us,
                trace=found.trace,
                traced=found.traced,
                reason=found.reason,
                seconds=found.seconds,
                candidates=found.candidates,
                curve=found.curve,
                bound_us=found.bound_us,
                optimal=found.optimal,
            )
        )
    return results
