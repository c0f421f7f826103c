"""Which rules were applied: figure 5.7."""
import numpy as np
import pandas as pd

from .plot import Result, new_figure


def counts_of_traces(results):
    """{(graph, system): mean times applied, by rule} of the best traces of results (see runtimes.find_results)."""
    columns = {}
    for result in results:
        if result.trace is not None:
            columns.setdefault((result.graph, result.system), []).append(result.trace["rule"].value_counts())
    return {key: pd.concat(seeds, axis=1).fillna(0).mean(axis=1) for key, seeds in columns.items()}


def counts_of_rollouts(runs, fraction=0.1):
    """The same per episode, over the last `share` of each run's real episodes."""
    columns = {}
    for run in runs:
        found = run.rollouts()
        real = found.episodes[~found.episodes["dream"]]
        last = real.tail(max(1, int(len(real) * fraction)))[["part", "row"]]
        steps = found.steps.merge(last, on=["part", "row"])
        columns.setdefault((run.graph, run.agent), []).append(steps.loc[steps["rule"] != "", "rule"].value_counts() / len(last))
    return {key: pd.concat(seeds, axis=1).fillna(0).mean(axis=1) for key, seeds in columns.items()}


def similarity(table):
    """Cosine between the counts of graphs under one system: pairs above the diagonal, most alike first."""
    norms = {key: float(np.linalg.norm(table[key])) for key in table.columns}
    keys = [key for key in table.columns if norms[key] > 0]
    pairs = [(float(table[a] @ table[b]) / (norms[a] * norms[b]), a, b) for i, a in enumerate(keys) for b in keys[i + 1 :] if a[1] == b[1]]
    return sorted(pairs, key=lambda pair: -pair[0])


def heatmap(columns, what, top=40):
    """Result for {(graph, system): times applied, by rule}: rules as rows, the most applied first, `top` of them drawn."""
    columns = {key: counts for key, counts in columns.items() if len(counts)}
    if not columns:
        raise ValueError("no rule was applied in what is given")
    table = pd.concat(columns, axis=1).fillna(0)
    table.columns = list(columns)
    table = table[sorted(table.columns, key=lambda key: (key[1], key[0]))]
    table = table.loc[table.sum(axis=1).sort_values(ascending=False, kind="stable").index]
    table = table[table.sum(axis=1) > 0]
    shown = table.head(top)
    if len(table) > top:
        shown = pd.concat([shown, table.iloc[top:].sum().to_frame(f"{len(table) - top} other rules").T])
    draw_height = 1.9 + 0.19 * len(shown)
    figure, axes = new_figure(width=3.6 + 0.52 * len(shown.columns), height=draw_height)
    axis, values = axes[0, 0], shown.to_numpy(dtype=float)
    image = axis.imshow(np.log1p(values), aspect="auto", cmap="Blues")
    axis.set_xticks(range(len(shown.columns)), [key[0] for key in shown.columns], rotation=60, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(len(shown)), shown.index, fontsize=7)
    for (row, column), value in np.ndenumerate(values):
        if value >= 0.05:
            dark = np.log1p(value) > 0.6 * np.log1p(values).max()
            axis.text(column, row, f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.1f}", ha="center", va="center", fontsize=6.5,
                      color="white" if dark else "black")  # fmt: skip
    systems = [key[1] for key in shown.columns]
    for start in range(len(systems)):
        if start == 0 or systems[start] != systems[start - 1]:
            axis.axvline(start - 0.5, color="black", linewidth=1)
            end = start + systems[start:].count(systems[start])
            axis.text((start + end - 1) / 2, -0.8, systems[start], ha="center", va="bottom", fontsize=9, fontweight="bold")
    axis.grid(False)
    axis.tick_params(length=0)
    figure.colorbar(image, ax=axis, shrink=min(1.0, 3 / draw_height), label="log(1 + times applied)")
    figure.suptitle("Rules applied\n" + what.replace("; ", "\n"))
    out = table.reset_index(names="rule")
    out.columns = ["rule", *(f"{graph}, {system}" for graph, system in table.columns)]
    alike = [f"{a[0]} and {b[0]} ({a[1]}) {value:.2f}" for value, a, b in similarity(table)[:6]]
    distinct = [f"{graph} ({system}) {int((table[(graph, system)] > 0).sum())}" for graph, system in table.columns]
    notes = [f"times applied, {what}; mean over seeds.", f"different rules: {', '.join(distinct)}"]
    if alike:
        notes.append(f"most alike by cosine of their counts: {'; '.join(alike)}")
    return Result("Rules applied (figure 5.7)", out, notes, figure), None
