#!/usr/bin/env python3
"""Annealing with and without a trained agent, on models that the agent was not trained on.

    results/agents.py record --rlgo build/release/rlgo --agent my.agent --out results/agents.csv \\
        --graphs resnet50,nasnet_a,vit_b16 --profiles cpu,gpu --budgets 30000,100000,300000 --seeds 5
    results/agents.py record ... --seconds 3,10,30        # equal time in place of equal graphs: on an idle machine
    results/agents.py show results/agents.csv

Every run is one thread. `show` prints, for each limit, the geometric mean over graphs and seeds of the final cost with the
agent to that without it, and a 95 % interval over seeds (Student's t of the logarithms of each seed's mean).
"""
import argparse
import csv
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

METHODS = ("anneal", "policy-anneal")
STUDENT_95 = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
FIELDS = ["profile", "graph", "limit", "seed", "method", "before_us", "after_us", "graphs", "seconds"]


def run(args, profile, graph, limit, seed):
    """Rows of both methods under one limit, ("budget", N) or ("seconds", S)."""
    kind, amount = limit
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "out.csv"
        command = [args.rlgo, "search", "--graph", graph, "--cost", "analytic", "--cost.profile", profile, "--methods", ",".join(METHODS),
                   "--agent.file", args.agent, "--seed", seed, "--csv", table, "--quiet"]
        command += ["--budget", amount] if kind == "budget" else ["--seconds", amount, "--budget", 10**12]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{graph}: {done.stderr.strip()}")
        with open(table, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    return [{"profile": profile, "graph": graph, "limit": f"{kind} {amount}", "seed": seed, "method": row["method"], "before_us": row["before_us"],
             "after_us": row["after_us"], "graphs": row["candidates"], "seconds": row["seconds"]} for row in rows]


def record(args):
    limits = [("budget", int(b)) for b in args.budgets.split(",") if b] + [("seconds", float(s)) for s in args.seconds.split(",") if s]
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for limit in limits:
            for profile in args.profiles.split(","):
                for graph in args.graphs.split(","):
                    for seed in range(args.seeds):
                        writer.writerows(run(args, profile, graph, limit, 100 + seed))
                        file.flush()
    return 0


def interval(values):
    """(mean, half of the 95 % interval) of one number a seed."""
    if len(values) < 2:
        return values[0], math.inf
    t = STUDENT_95.get(len(values), 2.0)
    return statistics.fmean(values), t * statistics.stdev(values) / math.sqrt(len(values))


def show(args):
    with open(args.table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    print("| limit | profile | graphs | cost with the agent to without, geometric mean (95 %) | better, equal, worse |\n|---|---|---|---|---|")
    keys = sorted({(r["limit"], r["profile"]) for r in rows}, key=lambda k: (k[0].split()[0], float(k[0].split()[1]), k[1]))
    for limit, profile in keys:
        of = {(r["graph"], r["seed"], r["method"]): float(r["after_us"]) for r in rows if (r["limit"], r["profile"]) == (limit, profile)}
        pairs = {(g, s): math.log(of[g, s, METHODS[1]] / of[g, s, METHODS[0]]) for g, s, m in of if m == METHODS[0] and (g, s, METHODS[1]) in of}
        seeds, graphs = sorted({s for _, s in pairs}), sorted({g for g, _ in pairs})
        mean, half = interval([statistics.fmean(pairs[g, s] for g in graphs if (g, s) in pairs) for s in seeds])
        better, worse = (sum(sign * v < -1e-6 for v in pairs.values()) for sign in (1, -1))
        print(f"| {limit} | {profile} | {len(graphs)} x {len(seeds)} seeds | {math.exp(mean):.4f} ({math.exp(mean - half):.4f} to {math.exp(mean + half):.4f}) "
              f"| {better}, {len(pairs) - better - worse}, {worse} |")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("--rlgo", default="build/release/rlgo")
    recording.add_argument("--agent", required=True)
    recording.add_argument("--out", required=True)
    recording.add_argument("--graphs", required=True)
    recording.add_argument("--profiles", default="cpu,gpu")
    recording.add_argument("--budgets", default="")
    recording.add_argument("--seconds", default="")
    recording.add_argument("--seeds", type=int, default=5)
    showing = commands.add_parser("show")
    showing.add_argument("table")
    args = parser.parse_args()
    return record(args) if args.command == "record" else show(args)


if __name__ == "__main__":
    sys.exit(main())
