#!/usr/bin/env python3
"""Trains agents in windows (docs/agent-options.md) with and without learning, and prints what each reached next to plain searches.

    results/windows.py [--graphs squeezenet1_1,resnet50] [--seeds 0,1,2] [--epochs 16] [--jobs 4] [--variants NAME,...] [--out FOLDER]

A table of Markdown: of each variant the best cost at the end (percent of the unmodified graph; each seed, median), the median of the steps
after which it was within 0.1 % of the best that any run or search here reached (-: less than half of the runs got there), and the mean
reward of an episode in the first and in the last quarter of the epochs. Where "without learning" is among the variants, a second table: by how
much each other one is below it with the same seed (negative: better), at the end and on average over the steps, and how much more an episode
of the last quarter gains, with 95 % intervals. Costs are of a formula, and all variants take the same number of
steps: neither the machine's load nor its speed counts. Runs that OUT has already are not made again. Variants switch one part off: learning
(--ppo.lr 1e-9), windows, R5 (R1 in its place), starts (every episode from the unmodified graph), the network (width 4, one round: prices
and little else), the heat bath over exact prices that a policy begins as (prices: by itself, and learning with it); or take RLFlow's form of a part: numbers of locations in place of matched
nodes, Battaglia's full block in place of the local one.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from rlgo_results.student import half_width

ROOT = pathlib.Path(__file__).resolve().parent.parent
RLGO = ROOT / "build/release/rlgo"
PRICES = {"cost": "analytic", "cost.profile": "gpu"}
BASE = {"env.frontier": "0.95", "env.searches": "greedy", "env.window": "40", "env.reward": "R5", "policy.noop-bias": "-4", "policy.beta": "3"}
CONTROL = "without learning"
VARIANTS = {
    "all": {},
    CONTROL: {"ppo.lr": "1e-9"},
    "without windows": {"env.window": "0"},
    "without R5": {"env.reward": "R1"},
    "without starts": {"env.frontier": "0", "env.window": "0"},
    "without network": {"gnn.width": "4", "gnn.rounds": "1"},
    "without prices": {"policy.beta": "0.001"},
    "without prices or learning": {"policy.beta": "0.001", "ppo.lr": "1e-9"},
    "location numbers": {"policy.location-head": "index"},
    "full block": {"gnn.block": "full"},
}
NEAR = 1.001  # times the best cost


def rlgo(command, values):
    """Runs rlgo and returns what it printed on standard output; ends the program where it fails."""
    words = [str(RLGO), command] + [word for key, value in values.items() for word in (f"--{key}", str(value))]
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def train(graph, variant, seed, epochs, out):
    """The rows of metrics.csv of one run, as numbers, and the cost of the unmodified graph."""
    name = f"{graph}-{variant.replace(' ', '_')}-{seed}"
    folder = out / name
    if not (folder / "result.json").exists():
        rlgo("train", {"graph": graph, **PRICES, "epochs": epochs, "seed": seed, "runs": out, "name": name, "device": "cpu", "store.rollouts": "false",
                       "train.polish": "false", "check.repeats": 3, "check.seeds": 1, **BASE, **VARIANTS[variant]})
    result = json.loads((folder / "result.json").read_text())
    if result["options"]["epochs"] != epochs:
        sys.exit(f"{folder}: a run of {result['options']['epochs']} epochs, not {epochs}; take another --out")
    columns = ("steps", "best_cost_us", "episode_reward_mean")
    with open(folder / "metrics.csv", newline="") as file:
        return [{key: float(row[key]) for key in columns} for row in csv.DictReader(file)], result["cost"]["before_us"]


def search(graph, method, budget):
    """(cost before, cost after) of a plain search that may price `budget` graphs."""
    row = json.loads(rlgo("search", {"graph": graph, **PRICES, "methods": method, "search.budget": budget, "json": "-", "quiet": "true"}))["searches"][0]
    return row["before_us"], row["after_us"]


def steps_to(rows, cost_us):
    """Steps after which a run was at most at this cost; infinite where it never was."""
    return next((row["steps"] for row in rows if row["best_cost_us"] <= cost_us), float("inf"))


def line_of(graph, variant, runs, goal_us):
    """A line of the table, of all seeds."""
    best = [100 * (rows[-1]["best_cost_us"] / before_us - 1) for rows, before_us in runs]
    steps = statistics.median_low([steps_to(rows, goal_us) for rows, _ in runs])
    quarter = max(len(runs[0][0]) // 4, 1)
    first, last = (statistics.mean(row["episode_reward_mean"] for rows, _ in runs for row in part(rows)) for part in (lambda r: r[:quarter], lambda r: r[-quarter:]))
    return (f"| {graph} | {variant} | {', '.join(f'{b:.2f}' for b in best)} | {statistics.median(best):.2f} | "
            f"{'-' if steps == float('inf') else f'{steps:.0f}'} | {first:.2f}, {last:.2f} |")


def interval(differences):
    """Their mean and its 95 % interval, as text."""
    mean, half = statistics.fmean(differences), math.inf if len(differences) < 2 else half_width(differences)
    return f"{mean:+.2f} [{mean - half:+.2f}, {mean + half:+.2f}]"


def pairs_line(graph, variant, runs, control):
    """A line of the second table: of all seeds, against those without learning."""
    paths = [[[100 * row["best_cost_us"] / before_us for row in rows] for rows, before_us in made] for made in (runs, control)]
    end = [a[-1] - b[-1] for a, b in zip(*paths)]
    mean = [statistics.mean(a) - statistics.mean(b) for a, b in zip(*paths)]
    last = [[statistics.mean(row["episode_reward_mean"] for row in rows[-max(len(rows) // 4, 1):]) for rows, _ in made] for made in (runs, control)]
    return f"| {graph} | {variant} | {interval(end)} | {interval(mean)} | {interval([a - b for a, b in zip(*last)])} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="squeezenet1_1,resnet50")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=4, help="runs at a time")
    parser.add_argument("--budgets", default="20000,200000", help="graphs that plain searches may price; '': no searches")
    parser.add_argument("--variants", default="all,without learning", help="which of: " + ", ".join(VARIANTS))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/windows"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    graphs, variants, seeds, budgets = ([word for word in text.split(",") if word] for text in (given.graphs, given.variants, given.seeds, given.budgets))
    with ThreadPoolExecutor(given.jobs) as pool:
        runs = {(graph, variant): [pool.submit(train, graph, variant, int(seed), given.epochs, given.out) for seed in seeds] for graph in graphs for variant in variants}
        plain = {(graph, method, budget): pool.submit(search, graph, method, budget)
                 for graph in graphs for method in ("greedy", "anneal", "window") for budget in budgets if method != "greedy" or budget == budgets[0]}
    print("| graph | what | best, % (each seed) | median | steps to the best | reward, first and last epochs |\n|---|---|---|---|---|---|")
    for graph in graphs:
        searched = {key[1:]: found.result() for key, found in plain.items() if key[0] == graph}
        trained = {variant: [run.result() for run in runs[graph, variant]] for variant in variants}
        reached = [after_us for _, after_us in searched.values()] + [rows[-1]["best_cost_us"] for made in trained.values() for rows, _ in made]
        for (method, budget), (before_us, after_us) in searched.items():
            print(f"| {graph} | {method}, {budget} graphs | {100 * (after_us / before_us - 1):.2f} | | | |")
        for variant in variants:
            print(line_of(graph, variant, trained[variant], NEAR * min(reached)))
    if CONTROL not in variants:
        return
    print("\n| graph | what | less without learning, points at the end | on average over the steps | reward of the last quarter's episodes, more |\n|---|---|---|---|---|")
    for graph in graphs:
        control = [run.result() for run in runs[graph, CONTROL]]
        for variant in variants:
            if variant != CONTROL:
                print(pairs_line(graph, variant, [run.result() for run in runs[graph, variant]], control))


if __name__ == "__main__":
    main()
