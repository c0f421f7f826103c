"""Draws times of the parts of a search step over the size of the graph.

usage: micro_curve.py MICRO.csv OUT.svg     MICRO.csv: rlgo_bench_micro --benchmark_format=csv
"""

import csv
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

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
        name = row["name"].split("/")[0]
        if row["name"].count("_mean") or row["name"].count("_median") or row["name"].count("_stddev"):
            continue
        points = curves.setdefault(name, {})
        nodes, us = int(row["label"]), float(row["cpu_time"]) / 1e3
        points[nodes] = min(us, points.get(nodes, us))
    return {name: sorted(points.items()) for name, points in curves.items()}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    curves = read(sys.argv[1])
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for title, names, style in GROUPS:
        for name in names:
            nodes, us = zip(*curves[name])
            axes.plot(nodes, us, style, marker=".", label=f"{name} ({title})")
    axes.set(xscale="log", yscale="log", xlabel="nodes of the graph", ylabel="CPU time, µs")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(sys.argv[2])
    print("nodes".ljust(14) + "".join(f"{n:>9}" for n, _ in curves["price"]))
    for _, names, _ in GROUPS:
        for name in names:
            print(name.ljust(14) + "".join(f"{us:>9.2f}" for _, us in curves[name]))


if __name__ == "__main__":
    main()
