"""Traces of heuristic searches: best cost over candidates. Reads what `rlgo search --csv T.csv --curve C.csv` wrote."""
from pathlib import Path

import numpy as np
import pandas as pd

from .plot import PERCENT, Result, change_percent, legend, new_figure
from .runs import parse_csv

COLUMNS = ["graph", "method", "seed", "seconds", "candidates", "best_us"]
COLOURS = {"taso": "#D55E00", "greedy": "#0072B2", "beam": "#009E73", "random": "#7F7F7F", "policy": "#CC79A7", "policy-taso": "#E69F00"}


def read(path):
    """(curve, totals): totals from the table next to a file NAME-curve.csv, NAME.csv, where it is there."""
    curve = parse_csv(path)
    if list(curve.columns) != COLUMNS:
        raise ValueError(f"{path}: not what rlgo search --curve writes (columns {', '.join(COLUMNS)})")
    table = Path(str(path).replace("-curve.csv", ".csv"))
    totals = parse_csv(table) if table != Path(path) and table.is_file() else None
    return curve, totals


def trace(path):
    """Best cost against candidates (rewrites tried) and against seconds, a row of panels a graph."""
    curve, totals = read(path)
    graphs = list(dict.fromkeys(curve["graph"]))
    figure, axes = new_figure(len(graphs), 2, width=10, height=1.0 + 2.1 * len(graphs), sharey="row")
    rows = []
    for place, graph in enumerate(graphs):
        for (method, seed), points in curve[curve["graph"] == graph].groupby(["method", "seed"], sort=False):
            before = points["best_us"].iloc[0]
            end = totals[(totals["graph"] == graph) & (totals["method"] == method) & (totals["seed"] == seed)] if totals is not None else []
            if len(end):
                before = end["before_us"].iloc[0]
            change = change_percent(before, points["best_us"])
            near = points[change <= 0.95 * change.iloc[-1]] if change.iloc[-1] < 0 else points.tail(1)
            for column, x in enumerate(("candidates", "seconds")):
                xs, ys = points[x].to_numpy(float), change.to_numpy()
                if len(end):
                    xs, ys = np.append(xs, end[x].iloc[0]), np.append(ys, ys[-1])
                axes[place, column].step(np.maximum(xs, 10 if x == "candidates" else 1e-3), ys, where="post", label=method,
                                         color=COLOURS.get(method, "black"), linewidth=1.5, linestyle="--" if method == "greedy" else "-", zorder=3 if method == "greedy" else 2)  # fmt: skip
            rows.append({"graph": graph, "method": method, "seed": seed, "before, ms": before / 1e3, "best, ms": points["best_us"].iloc[-1] / 1e3,
                         "change, %": change.iloc[-1], "candidates to the best": points["candidates"].iloc[-1],
                         "candidates to 95 % of the gain": near["candidates"].iloc[0], "s to the best": points["seconds"].iloc[-1],
                         "candidates in all": end["candidates"].iloc[0] if len(end) else np.nan})  # fmt: skip
        axes[place, 0].set(ylabel=f"{graph}\nbest cost, change in %", xscale="log")
        axes[place, 1].set(xscale="log")
    axes[-1, 0].set(xlabel="candidates (graphs generated and priced)")
    axes[-1, 1].set(xlabel="time, s")
    legend(axes[0, 0])
    figure.suptitle("Heuristic searches")
    return Result("Search traces", pd.DataFrame(rows), [f"{PERCENT}; cost: estimated runtime, summed over operators."], figure), None
