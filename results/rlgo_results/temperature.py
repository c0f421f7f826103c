"""Table 5.1: a sweep over the dream's temperature. Reads temperature.csv of launch/scripts/temperature-sweep.sh (rlgo evaluate --csv)."""
import math
from pathlib import Path

import numpy as np
import pandas as pd

from .plot import Result, legend, new_figure
from .runs import Run, parse_csv
from .student import half_width

COLUMNS = {"run", "seed", "temperature", "mode", "episodes", "return_mean", "final_cost_mean_us"}


def sweep(path):
    path = Path(path)
    file = path / "temperature.csv" if path.is_dir() else path
    if not file.is_file():
        raise FileNotFoundError(f"{file}: no such file; launch/scripts/temperature-sweep.sh makes it")
    rows = parse_csv(file)
    if not COLUMNS <= set(rows.columns):
        raise ValueError(f"{file}: not a table of rlgo evaluate --csv (columns {', '.join(sorted(COLUMNS - set(rows.columns)))} are missing)")
    before_us = {run: Run(file.parent / run).initial_cost_us for run in rows["run"].unique() if (file.parent / run / "config.cfg").is_file()}
    table = []
    for temperature, group in rows.groupby("temperature"):
        score = {mode: -group.loc[group["mode"] == mode, "return_mean"].to_numpy() for mode in ("dream", "sampled", "greedy")}
        sampled = group[group["mode"] == "sampled"]
        count = len(score["sampled"])
        sd = lambda values: np.std(values, ddof=1) if len(values) > 1 else math.nan  # noqa: E731
        half = {f"{name} 95 % half-width": half_width(list(score[mode])) for name, mode in (("world-model", "dream"), ("real", "sampled"), ("greedy", "greedy"))}
        table.append({"temperature": temperature, "runs": count, "world-model score, %": score["dream"].mean(), "wm sd": sd(score["dream"]),
                      "real score, %": score["sampled"].mean(), "real sd": sd(score["sampled"]),
                      "real greedy, %": score["greedy"].mean(), **half, "before, ms": np.mean([before_us.get(run, math.nan) for run in sampled["run"]]) / 1e3,
                      "after, ms": sampled["final_cost_mean_us"].mean() / 1e3})  # fmt: skip
    table = pd.DataFrame(table)
    figure, axes = new_figure()
    for column, sd, name, colour in (("world-model score, %", "wm sd", "world model (dream)", "#D55E00"), ("real score, %", "real sd", "real environment", "#0072B2")):
        axes[0, 0].errorbar(table["temperature"], table[column], yerr=table[sd].fillna(0), marker="o", capsize=3, color=colour, label=name)
    axes[0, 0].axhline(0, color="black", linewidth=0.8)
    axes[0, 0].set(xlabel="temperature of the dream", ylabel="score: change of estimated runtime, %")
    legend(axes[0, 0])
    figure.suptitle(f"Temperature sweep, {int(table['runs'].max())} runs each (bars: sample deviation)")
    both = table[["world-model score, %", "real score, %"]]
    notes = ["score = (cost at the end of an episode - cost before) / cost before = - sum of rewards, in percent; negative is faster; cost: estimated runtime.",
             "World-model score: dreamed episodes; real score: sampled play in the real environment; mean and sample deviation over runs (seeds).",
             f"mean gap {(table['real score, %'] - table['world-model score, %']).mean():.2f} points; correlation of the two columns over temperatures "
             + (f"{both.corr().iloc[0, 1]:.2f}" if len(table) > 2 else "needs three temperatures")]  # fmt: skip
    return Result("Temperature sweep (table 5.1)", table, notes, figure), None
