"""Agents side by side from their run folders: interactions, wall-clock, cost, dream-predicted against real return.

    python results/agents.py RUN_FOLDER... [--at-steps N] [--csv FILE]

One row a run from its metrics.csv: `best` is the lowest cost that the agent met, in percent of the unmodified graph's; `best at
N` the same after N real steps (default: the fewest steps of any run), for a comparison at equal interactions; `return` the mean
sum of rewards of the last five epochs with real episodes; `real` and `dream` the last three comparisons of a world-model agent.
"""
import argparse
import csv
import math
import re
import sys
from pathlib import Path


def rows_of(run):
    with open(run / "metrics.csv", newline="") as file:
        return [{key: float(value) if value else math.nan for key, value in row.items()} for row in csv.DictReader(file)]


def initial_cost_us(run):
    found = re.search(r"cost of the unmodified graph: ([0-9.]+) ms", (run / "log.txt").read_text())
    if not found:
        sys.exit(f"{run}: log.txt does not tell the cost of the unmodified graph")
    return float(found[1]) * 1e3


def option(run, name):
    found = re.search(rf"^{name} = (.*)$", (run / "config.cfg").read_text(), re.M)
    return found[1].strip() if found else ""


def mean(values):
    values = [v for v in values if not math.isnan(v)]
    return sum(values) / len(values) if values else math.nan


def summary(run, at_steps):
    rows, initial = rows_of(run), initial_cost_us(run)
    change = lambda us: 100 * (us - initial) / initial
    compared = [r for r in rows if not math.isnan(r.get("real_return", math.nan))][-3:]
    played = [r for r in rows if r["epoch_episodes"] > 0][-5:]
    before = [r for r in rows if r["steps"] <= at_steps]
    return {"run": run.name, "agent": option(run, "agent"), "seed": option(run, "seed"), "epochs": len(rows), "steps": int(rows[-1]["steps"]),
            "seconds": rows[-1]["seconds"], "best_percent": change(rows[-1]["best_cost_us"]),
            "best_percent_at_steps": change(before[-1]["best_cost_us"]) if before else math.nan,
            "return_percent": mean(r["episode_reward_mean"] for r in played),
            "real_return_percent": mean(r["real_return"] for r in compared), "dream_return_percent": mean(r["dream_return"] for r in compared)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--at-steps", type=int, help="real steps of the comparison at equal interactions")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    for run in options.runs:
        if not (run / "metrics.csv").is_file():
            sys.exit(f"{run}: no metrics.csv; name run folders")
    at = options.at_steps or min(int(rows_of(run)[-1]["steps"]) for run in options.runs)
    table = [summary(run, at) for run in options.runs]
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, table[0])
            writer.writeheader()
            writer.writerows(table)
    print(f"| agent | seed | real steps | s | best | best at {at} steps | return | real / dream return |")
    print("|---|---|---|---|---|---|---|---|")
    for r in table:
        both = "" if math.isnan(r["real_return_percent"]) else f"{r['real_return_percent']:.1f} / {r['dream_return_percent']:.1f}"
        print(f"| {r['agent']} | {r['seed']} | {r['steps']} | {r['seconds']:.0f} | {r['best_percent']:.2f} % | {r['best_percent_at_steps']:.2f} % | "
              f"{r['return_percent']:.1f} | {both} |")


if __name__ == "__main__":
    main()
