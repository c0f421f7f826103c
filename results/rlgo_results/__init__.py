"""Offline analysis of rlgo's run folders and rollout stores. docs/analysis.md; `python -m rlgo_results --help`.

As a library:
    from rlgo_results import find_runs, load
    runs = find_runs(["runs"])                     # runs[0].metrics, .config, .initial_cost_us, ...
    rollouts = load(["runs/NAME"])                 # rollouts.episodes, rollouts.steps: pandas data frames
    rollouts.observation(0, 3)                     # arrays of one observation of the first episode
"""
import importlib

PLACES = {"Run": ".runs", "find_runs": ".runs", "Damaged": ".store", "Part": ".store", "Rollouts": ".store", "load": ".store"}
__all__ = [*PLACES]


def __getattr__(name):
    """Loaded when asked for: scripts that need but the standard library run where pandas is not."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(PLACES[name], __name__), name)
