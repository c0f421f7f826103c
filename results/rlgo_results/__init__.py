"""Offline analysis of rlgo's run folders and rollout stores. docs/analysis.md; `python -m rlgo_results --help`.

As a library:
    from rlgo_results import find_runs, load
    runs = find_runs(["runs"])                     # runs[0].metrics, .config, .initial_cost_us, ...
    rollouts = load(["runs/NAME"])                 # rollouts.episodes, rollouts.steps: pandas data frames
    rollouts.observation(0, 3)                     # arrays of one observation of the first episode
"""
from .runs import Run, find_runs
from .store import Damaged, Part, Rollouts, load

__all__ = ["Damaged", "Part", "Rollouts", "Run", "find_runs", "load"]
