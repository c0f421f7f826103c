"""Times of the parts of a search step over the size of the graph: rlgo_bench_micro --benchmark_format=csv."""
import csv

import pandas as pd

from .plot import Result, legend, new_figure

GROUPS = [
    ("a candidate of a search", ["price", "delta_hash", "delta_cost"], "-"),
    ("once for each graph that is built", ["match_update", "apply", "copy"], "--"),
    ("from scratch, for comparison", ["match_all", "hash_all"], ":"),
]


def read(path):
    """{benchmark: [(nodes, CPU time in us)]}; the lowest of several repetitions."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = [line for line in file if line.startswith(("name,", '"'))]
    curves = {}
    for row in csv.DictReader(lines):
        if any(end in row["name"] for end in ("_mean", "_median", "_stddev", "_cv")):
            continue
        points = curves.setdefault(row["name"].split("/")[0], {})
        nodes, us = int(row["label"]), float(row["cpu_time"]) / 1e3
        points[nodes] = min(us, points.get(nodes, us))
    if not all(name in curves for _, names, _ in GROUPS for name in names):
        raise ValueError(f"{path}: not what rlgo_bench_micro --benchmark_format=csv writes")
    return {name: sorted(points.items()) for name, points in curves.items()}


def micro(path):
    curves = read(path)
    figure, axes = new_figure(width=7, height=4.5)
    for title, names, style in GROUPS:
        for name in names:
            axes[0, 0].plot(*zip(*curves[name]), style, marker=".", label=f"{name} ({title})")
    axes[0, 0].set(xscale="log", yscale="log", xlabel="nodes of the graph", ylabel="CPU time, µs")
    legend(axes[0, 0], fontsize=7)
    names = [name for _, group, _ in GROUPS for name in group]
    table = pd.DataFrame([{"part": name, **{f"{nodes} nodes": us for nodes, us in curves[name]}} for name in names])
    return Result("Parts of a search step", table, ["CPU time in us, the lowest of repetitions"], figure), None
