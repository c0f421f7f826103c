#!/usr/bin/env python3
"""Searches with and without a trained agent, on models that the agent was not trained on.

    results/agents.py record --rlgo build/release/rlgo --agent my.agent --out results/agents.csv \\
        --graphs resnet50,nasnet_a,vit_b16 --profiles cpu,gpu --budgets 30000,100000,300000 --seeds 5
    results/agents.py record ... --seconds 3,10,30        # equal time in place of equal graphs: on an idle machine
    results/agents.py show results/agents.csv

    results/agents.py record ... --methods policy-plan,policy,policy-anneal,anneal,taso --first-seed 0
    results/agents.py show results/agents-plan.csv --method policy-plan         # against each of the others

    results/agents.py reach --agent my.agent --out results/agents-reach.csv --graphs resnet50,nasnet_a --budgets 50000
    results/agents.py show-reach results/agents-reach.csv

Every run is one thread. `show` prints, for each limit, the geometric mean over graphs and seeds of the final cost with
the agent to that without it, and a 95 % interval over seeds (Student's t of the logarithms of each seed's mean).
`reach`: graphs priced, and seconds, until TASO's best cost, by TASO's search and by the same with an agent.
"""
import argparse
import csv
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

from rlgo_results.student import half_width

METHODS = ("anneal", "policy-anneal")
REACHING = ("taso", "policy-taso")
BOUNDS = ("--memory", 4096, "--seconds", 30)  # with an agent the queue of TASO may take all memory before the graphs are priced
FIELDS = ["profile", "graph", "limit", "seed", "method", "before_us", "after_us", "graphs", "seconds"]


def search(args, methods, profile, graph, limit, seed, options=()):
    """(rows of the table, rows of the curves) of the methods under one limit, ("budget", N) or ("seconds", S)."""
    kind, amount = limit
    with tempfile.TemporaryDirectory() as folder:
        table, curve = (pathlib.Path(folder) / name for name in ("out.csv", "curve.csv"))
        command = [args.rlgo, "search", "--graph", graph, "--cost", "analytic", "--cost.profile", profile, "--methods", ",".join(methods),
                   "--agent.file", args.agent, "--seed", seed, "--csv", table, "--curve", curve, "--quiet", *options]
        command += ["--cpu-time"] if args.cpu_time else []
        command += ["--budget", amount] if kind == "budget" else ["--seconds", amount, "--budget", 10**12]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{graph}: {done.stderr.strip()}")
        return [list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) for path in (table, curve)]


def run(args, profile, graph, limit, seed):
    """Rows of all methods under one limit."""
    rows, _ = search(args, args.methods.split(","), profile, graph, limit, seed)
    return [{"profile": profile, "graph": graph, "limit": f"{limit[0]} {limit[1]}", "seed": seed, "method": row["method"], "before_us": row["before_us"],
             "after_us": row["after_us"], "graphs": row["candidates"], "seconds": row["seconds"]} for row in rows]


def settings(args):
    """(profile, graph, limit) of all runs, in their order."""
    limits = [("budget", int(b)) for b in args.budgets.split(",") if b] + [("seconds", float(s)) for s in args.seconds.split(",") if s]
    return [(profile, graph, limit) for limit in limits for profile in args.profiles.split(",") for graph in args.graphs.split(",")]


def write(args, fields, rows):
    """Row by row, so that a run that is cut short leaves what it has."""
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            file.flush()
    return 0


def record(args):
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    return write(args, FIELDS, (row for setting in settings(args) for seed in seeds for row in run(args, *setting, seed)))


def reach_of(args, profile, graph, limit):
    """One row a method: what it took to come to TASO's best cost; nothing where it does not."""
    rows, curves = search(args, REACHING, profile, graph, limit, args.first_seed, BOUNDS)
    goal_us = min(float(point["best_us"]) for point in curves if point["method"] == REACHING[0])
    for row in rows:
        there = [p for p in curves if p["method"] == row["method"] and float(p["best_us"]) <= goal_us * (1 + 1e-9)]
        yield {"profile": profile, "graph": graph, "limit": f"{limit[0]} {limit[1]}", "method": row["method"], "before_us": row["before_us"],
               "after_us": row["after_us"], "graphs": row["candidates"], "seconds": row["seconds"],
               "graphs_to_tasos_best": there[0]["candidates"] if there else "", "seconds_to_tasos_best": there[0]["seconds"] if there else ""}  # fmt: skip


def reach(args):
    fields = [f for f in FIELDS if f != "seed"] + ["graphs_to_tasos_best", "seconds_to_tasos_best"]
    return write(args, fields, (row for setting in settings(args) for row in reach_of(args, *setting)))


def show_reach(args):
    with open(args.table, newline="", encoding="utf-8") as file:
        rows = {(r["profile"], r["graph"], r["method"]): r for r in csv.DictReader(file)}
    print("| profile | graph | TASO: cost, graphs, seconds to its best | with the agent: cost, graphs, seconds to the same | graphs with to without | seconds |\n|---|---|---|---|---|---|")
    ratios = {"graphs": [], "seconds": []}
    for profile, graph in sorted({key[:2] for key in rows}):
        cells = []
        for method in REACHING:
            r = rows[profile, graph, method]
            change = 100 * (float(r["after_us"]) / float(r["before_us"]) - 1)
            to = r["graphs_to_tasos_best"]
            cells.append(f"{change:+.2f} %, " + (f"{to}, {float(r['seconds_to_tasos_best']):.2f} s" if to else f"not in {r['graphs']}, {float(r['seconds']):.2f} s"))
        for unit, found in ratios.items():
            plain, guided = (rows[profile, graph, m][f"{unit}_to_tasos_best"] for m in REACHING)
            found.append(float(guided) / float(plain) if guided else math.inf)
            cells.append(f"{found[-1]:.2f}" if guided else "-")
        print(f"| {profile} | {graph} | {' | '.join(cells)} |")
    print(f"with the agent reached on {sum(math.isfinite(f) for f in ratios['graphs'])} of {len(ratios['graphs'])}; median with to without: " + ", ".join(f"{unit} {statistics.median(found):.2f}" for unit, found in ratios.items()))
    return 0


def interval(values):
    """(mean, half of the 95 % interval) of one number a seed."""
    return statistics.fmean(values), math.inf if len(values) < 2 else half_width(values)


def show(args):
    with open(args.table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    others = [m for m in dict.fromkeys(r["method"] for r in rows) if m != args.method]
    print(f"| limit | profile | graphs | cost with {args.method} to | geometric mean (95 %) | better, equal, worse |\n|---|---|---|---|---|---|")
    keys = sorted({(r["limit"], r["profile"]) for r in rows}, key=lambda k: (k[0].split()[0], float(k[0].split()[1]), k[1]))
    for (limit, profile), other in ((key, other) for key in keys for other in others):
        of = {(r["graph"], r["seed"], r["method"]): float(r["after_us"]) for r in rows if (r["limit"], r["profile"]) == (limit, profile)}
        pairs = {(g, s): math.log(of[g, s, args.method] / of[g, s, other]) for g, s, m in of if m == other and (g, s, args.method) in of}
        seeds, graphs = sorted({s for _, s in pairs}), sorted({g for g, _ in pairs})
        mean, half = interval([statistics.fmean(pairs[g, s] for g in graphs if (g, s) in pairs) for s in seeds])
        better, worse = (sum(sign * v < -1e-6 for v in pairs.values()) for sign in (1, -1))
        within = f" ({math.exp(mean - half):.4f} to {math.exp(mean + half):.4f})" if len(seeds) > 1 else ""
        print(f"| {limit} | {profile} | {len(graphs)} x {len(seeds)} seeds | {other} | {math.exp(mean):.4f}{within} | {better}, {len(pairs) - better - worse}, {worse} |")
    if args.each:
        show_each(rows)
    return 0


def show_each(rows):
    """Medians over seeds by graph: change of cost, and graphs priced."""
    graphs = list(dict.fromkeys(r["graph"] for r in rows))
    print(f"\n| limit | profile | method | {' | '.join(graphs)} |\n|---|---|---|{'---|' * len(graphs)}")
    for limit, profile, method in dict.fromkeys((r["limit"], r["profile"], r["method"]) for r in rows):
        cells = []
        for graph in graphs:
            own = [r for r in rows if (r["limit"], r["profile"], r["method"], r["graph"]) == (limit, profile, method, graph)]
            change, priced = (statistics.median(values) for values in (
                [100 * (float(r["after_us"]) / float(r["before_us"]) - 1) for r in own], [int(r["graphs"]) for r in own]))
            cells.append(f"{change:.2f}" + (f" ({priced:.0f})" if limit.startswith("seconds") else ""))
        print(f"| {limit} | {profile} | {method} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("record", "reach"):
        recording = commands.add_parser(name)
        recording.add_argument("--rlgo", default="build/release/rlgo")
        recording.add_argument("--agent", required=True)
        recording.add_argument("--out", required=True)
        recording.add_argument("--graphs", required=True)
        recording.add_argument("--profiles", default="cpu,gpu")
        recording.add_argument("--budgets", default="")
        recording.add_argument("--seconds", default="")
        recording.add_argument("--first-seed", type=int, default=100)
        recording.add_argument("--cpu-time", action="store_true", help="seconds of the processor, for a machine that is busy")
        if name == "record":
            recording.add_argument("--seeds", type=int, default=5)
            recording.add_argument("--methods", default=",".join(METHODS))
    showing = commands.add_parser("show")
    showing.add_argument("table")
    showing.add_argument("--method", default=METHODS[1])
    showing.add_argument("--each", action="store_true")
    commands.add_parser("show-reach").add_argument("table")
    args = parser.parse_args()
    return {"record": record, "reach": reach, "show": show, "show-reach": show_reach}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
