"""Memory and work of graphs before and after: from the steps of rollouts (estimates of the cost model)."""
import math

import numpy as np
import pandas as pd

from .plot import PERCENT, Result, change_percent, color, legend, new_figure

COLUMNS = {"peak_bytes": "peak memory", "bytes": "bytes moved", "flops": "flops", "launches": "launches"}


def before_and_after(run):
    """({column: of the unmodified graph}, {column: of the cheapest graph that an episode met}); the first may be empty."""
    steps = run.rollouts().steps
    first = steps[(steps["step"] == 0) & (steps["rule"] == "")]  # NO-OP at once: the graph after it is the unmodified one
    before = first.iloc[0][list(COLUMNS)].to_dict() if len(first) else {}
    best = steps.loc[steps["cost_us"].idxmin()]
    return before, {**best[list(COLUMNS)].to_dict(), "cost_us": best["cost_us"]}


def memory(runs):
    """Peak memory and work of the best graph of each run, mean over seeds."""
    unmodified, found = {}, {}
    for run in runs:
        before, after = before_and_after(run)
        if before:
            unmodified.setdefault(run.graph, before)
        found.setdefault((run.graph, run.agent), []).append((run.initial_cost_us, after))
    rows = []
    for (graph, agent), seeds in found.items():
        before = unmodified.get(graph, {name: math.nan for name in COLUMNS})
        row = {"graph": graph, "agent": agent, "seeds": len(seeds),
               "cost, %": change_percent(np.mean([s[0] for s in seeds]), np.mean([s[1]["cost_us"] for s in seeds])),
               "peak before, MiB": before["peak_bytes"] / 2**20}  # fmt: skip
        for name, title in COLUMNS.items():
            row[f"{title}, %"] = change_percent(before[name], np.mean([s[1][name] for s in seeds]))
        row["peak after, MiB"] = np.mean([s[1]["peak_bytes"] for s in seeds]) / 2**20
        rows.append(row)
    table = pd.DataFrame(rows)
    table = table[[*table.columns[:5], "peak after, MiB", *(f"{title}, %" for title in COLUMNS.values())]]
    figure, axes = new_figure(1, 2, width=10, height=3.8, gridspec_kw={"width_ratios": [1, 1.6]})
    graphs, agents = list(dict.fromkeys(table["graph"])), list(dict.fromkeys(table["agent"]))
    width = 0.8 / len(agents)
    for index, agent in enumerate(agents):
        part = table[table["agent"] == agent].set_index("graph").reindex(graphs)
        at = np.arange(len(graphs)) + (index - (len(agents) - 1) / 2) * width
        axes[0, 0].bar(at, part["peak memory, %"], width * 0.92, color=color(agent, index), label=agent)
        for place, title in enumerate(("cost", "bytes moved", "launches", "flops")):
            offset = (index - (len(agents) - 1) / 2) * width
            values = part[f"{title}, %"].dropna()
            axes[0, 1].plot(np.full(len(values), place) + offset, values, "o", color=color(agent, index), markersize=5, alpha=0.8)
    for axis in axes[0]:
        axis.axhline(0, color="black", linewidth=0.8)
    axes[0, 0].set(ylabel="peak memory, change in %", xticks=range(len(graphs)))
    axes[0, 0].set_xticklabels(graphs, rotation=25, ha="right", rotation_mode="anchor")
    axes[0, 1].set(ylabel="change, % (a dot a graph)", xticks=range(4), xticklabels=["cost", "bytes moved", "launches", "flops"])
    legend(axes[0, 0])
    figure.suptitle("The cheapest graph that an agent met, against the unmodified one (estimates)")
    notes = [f"{PERCENT} (of every column with %); estimates of the cost model: peak memory of activations and weights, bytes read and written, kernel launches;",
             "empty: no stored episode began with NO-OP, so the unmodified graph's values are not in the store. Mean over seeds."]  # fmt: skip
    return Result("Memory of the optimised graphs", table, notes, figure), None
