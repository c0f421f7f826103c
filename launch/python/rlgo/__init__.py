"""rlgo: ONNX models made faster by proved graph rewrites, with evidence.

    import rlgo
    result = rlgo.optimise("model.onnx", seconds=30)
    print(result.verdict, result.ratio, result.interval)
    result.save("faster.onnx")

`optimise` does all of it; `search`, `rules`, `Graph` and `cost` are its parts; `rlgo.gym` has the Gymnasium environment
"rlgo/Rewrite-v0". Times are in microseconds (`_us`), sizes in elements, unless a name says otherwise.
"""

try:
    from . import _core
except ImportError as error:
    import rlgo_command

    raise ImportError(f"rlgo cannot be loaded: {rlgo_command.why_not() or error}") from error
from . import rules
from ._core import CostModel, Error, UsageError, version as __version__
from ._compare import Comparison, compare
from ._graph import Graph, cost, load, zoo
from ._optimise import Check, Result, optimise, optimize
from ._search import SearchResult, methods, search

__all__ = [
    "Check",
    "Comparison",
    "CostModel",
    "Error",
    "Graph",
    "Result",
    "SearchResult",
    "UsageError",
    "__version__",
    "compare",
    "cost",
    "load",
    "methods",
    "optimise",
    "optimize",
    "rules",
    "search",
    "zoo",
]
