"""Stored episodes, of any rollout store: also one that was copied without its run folder."""
from pathlib import Path

import numpy as np
import pandas as pd

from .plot import PALETTE, Result, legend, new_figure
from .store import load


def row_of(path, found):
    e, s = found.episodes, found.steps
    return {"store": str(path), "parts": e["part"].nunique(), "episodes": len(e), "terminal": int(e["terminal"].sum()), "truncated": int(e["truncated"].sum()),
            "dreamed": int(e["dream"].sum()), "steps": len(s), "return min": e["return"].min(), "return mean": e["return"].mean(), "return max": e["return"].max(),
            "before, ms": e["initial_cost_us"].iloc[0] / 1e3, "best, ms": e["best_cost_us"].min() / 1e3, "ms per step": s["step_us"].mean() / 1e3,
            "different rules": s.loc[s["rule"] != "", "rule"].nunique()}  # fmt: skip


def episodes(paths):
    """(Result, problems): a row a store; picture: return and lowest cost of each episode in the order of arrival."""
    figure, axes = new_figure(2, 1, width=8, height=6, sharex=True)
    rows, problems = [], []
    for index, path in enumerate(paths):
        found = load(path)
        problems += found.problems
        rows.append(row_of(path, found))
        window = max(1, len(found.episodes) // 50)
        for axis, values in ((axes[0, 0], found.episodes["return"]), (axes[1, 0], found.episodes["best_cost_us"] / 1e3)):
            colour = PALETTE[index % len(PALETTE)]
            axis.plot(np.arange(len(values)), values, ".", markersize=2, alpha=0.3, color=colour)
            axis.plot(values.rolling(window, min_periods=1).mean(), color=colour, label=f"{Path(path).name}, mean of {window}")
    axes[0, 0].set(ylabel="return (sum of rewards)")
    axes[1, 0].set(ylabel="lowest cost in the episode, ms", xlabel="episode, in the order of arrival")
    legend(axes[0, 0])
    figure.suptitle("Stored episodes")
    notes = ["return: sum of an episode's rewards, not discounted; ms per step: time of the real environment."]
    return Result("Stored episodes", pd.DataFrame(rows), notes, figure), problems
