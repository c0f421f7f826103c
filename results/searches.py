#!/usr/bin/env python3
"""Searches side by side, recorded and shown: equal seconds, equal graphs tried, several seeds where chance plays a part.

    results/searches.py record --rlgo build/release/rlgo --folder results/searches --profiles cpu,gpu --graphs zoo \\
        --methods greedy,sweep,taso,beam,metaflow,window,anneal --seconds 30 --seeds 5 --jobs 2
    results/searches.py show results/searches --out results/searches.md --plot results/searches.svg

Each run is a pair of files in the folder, so a campaign that was interrupted continues where it stopped. `show` reads what
is there. One thread a run; seconds are those of the processor in this thread (--wall: of the wall), so that other jobs of the
machine hardly change them. The costs are analytic, of a profile (configs/costs), or --cost measured.
"""
import argparse
import concurrent.futures
import csv
import pathlib
import statistics
import subprocess
import sys

from rlgo_results import tables
from rlgo_results.student import half_width
from rlgo_results.tables import best_bold, best_bold_of_columns

DRAWN = {"anneal", "portfolio", "random", "policy"}  # methods whose result depends on the seed
ZOO = ["resnet18", "resnet50", "inception_v3", "squeezenet1_1", "bert"]
GRAPHS = {"zoo": ZOO, "all": [*ZOO, "nasrnn", "nasnet_a", "resnext50", "vgg19", "vit_b16", "gpt2"]}
UNLIMITED = 10**15


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def files_of(folder, profile, graph, method, seed):
    """Table and curve of one run."""
    name = f"{profile}-{pathlib.Path(graph).stem}-{method}-s{seed}"
    return folder / f"{name}.csv", folder / f"{name}.curve.csv"


def command_of(args, profile, graph, method, seed):
    """(command, file that it writes) of one run; the file becomes its table once the command has ended well."""
    table, curve = files_of(args.folder, profile, graph, method, seed)
    part = table.with_suffix(".part")
    costs = ["--cost", "analytic", "--cost.profile", profile] if profile != "measured" else ["--cost", "measured"]
    clock = [] if args.wall else ["--cpu-time"]
    rules = ["--rules", args.rules] if args.rules else []
    command = [args.rlgo, "search", "--graph", graph, "--method", method, *costs, *rules, "--seconds", args.seconds, "--budget", args.budget,
               *clock, "--seed", seed, "--csv", part, "--curve", curve, *args.options]
    return [str(c) for c in command], part


def run_one(args, profile, graph, method, seed):
    """Records one run; says what went wrong, or nothing."""
    table, curve = files_of(args.folder, profile, graph, method, seed)
    if table.exists() and curve.exists():
        return ""
    command, part = command_of(args, profile, graph, method, seed)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"{table.stem}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'}"
    part.rename(table)
    print(table.stem, done.stdout.strip().splitlines()[-1], flush=True)
    return ""


def runs_of(profiles, graphs, methods, seeds):
    """(profile, graph, method, seed) of a campaign: first all of seed 0, then, of methods that draw, the other seeds."""
    names = [g for name in graphs for g in GRAPHS.get(name, [name])]
    return [(profile, graph, method, seed) for seed in range(seeds) for profile in profiles for graph in names for method in methods if seed == 0 or method in DRAWN]


def record(args):
    args.folder.mkdir(parents=True, exist_ok=True)
    runs = runs_of(args.profiles.split(","), args.graphs.split(","), args.methods.split(","), args.seeds)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        errors = [error for error in pool.map(lambda run: run_one(args, *run), runs) if error]
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


def load(folder):
    """{(profile, graph, method): [(row, curve), ...]}, a pair a seed."""
    runs = {}
    for path in sorted(folder.glob("*.csv")):
        if path.name.endswith(".curve.csv"):
            continue
        curve_path = path.with_name(path.stem + ".curve.csv")
        if not curve_path.exists():
            continue
        for row in read(path):
            row["cost"] = row["cost"].removeprefix("analytic:").replace("analytic", "cpu")
            curve = [(float(p["seconds"]), int(p["candidates"]), float(p["best_us"])) for p in read(curve_path)]
            runs.setdefault((row["cost"], row["graph"], row["method"]), []).append((row, curve))
    return runs


def best_at(curve, column, limit):
    """Change in percent of the best graph found by a number of seconds (column 0) or of graphs (1)."""
    return 100 * (min(p[2] for p in curve if p[column] <= limit) / curve[0][2] - 1)


def spread(values):
    """Mean, and half of the 95 % interval of the mean by Student's t; the value alone where there is one."""
    return f"{values[0]:.2f}" if len(values) < 2 else f"{statistics.mean(values):.2f} ± {half_width(values):.2f}"


def table(runs, profile, best_known):
    graphs = sorted({g for p, g, _ in runs if p == profile})
    lines = [f"## Profile {profile}", "", "Change of cost, %; lower is better, the best of a graph in each column is bold. Columns: the end, at equal seconds, at equal graphs tried. Equal graphs are those of the method that "
             "tried fewest, without finished ones and egraph, which holds many in one. Mean and 95 % interval over seeds, if there are several.", ""]
    rows = []
    for graph in graphs:
        of_graph = {m: r for (p, g, m), r in runs.items() if p == profile and g == graph}
        tried = [int(row["candidates"]) for m, r in of_graph.items() for row, _ in r if row["ended_by"] != "finished" and m != "egraph"]
        equal = min(tried, default=UNLIMITED)
        at, rest = [], []
        for method, seeds in sorted(of_graph.items(), key=lambda item: statistics.mean(float(r["change_percent"]) for r, _ in item[1])):
            ends = [float(row["change_percent"]) for row, _ in seeds]
            behind = 100 * ((100 + min(ends)) / (100 + best_known[profile, graph]) - 1)
            middle = sorted(seeds, key=lambda s: float(s[0]["change_percent"]))[len(seeds) // 2]
            at.append([method, spread(ends), *(spread([best_at(c, 0, s) for _, c in seeds]) for s in (1, 10)), spread([best_at(c, 1, equal) for _, c in seeds])])
            rest.append([f"{min(ends):.2f} of {len(seeds)}", f"{behind:.2f}", f"{middle[1][-1][0]:.2f}", f"{middle[1][-1][1]:,} of {int(middle[0]['candidates']):,}"])
        rows += [[graph, *cells, *others] for cells, others in zip(best_bold_of_columns(at, 1), rest)]
    columns = ["graph", "method", "end", "after 1 s", "after 10 s", "at equal graphs", "best seed", "behind the best known", "seconds to its best", "graphs to its best"]
    return [*lines, *tables.table(columns, rows, keys=2), ""]


def summary(runs, profile):
    """Of each method against TASO over the graphs that both have: the geometric mean of the costs at the end, and on how many graphs it is at
    TASO's end or below after one second (mean over seeds; a cost within 1e-6 is equal)."""
    lines = ["Against TASO, at its end (negative: cheaper graphs; lower is better):", "", "| method | graphs | at the end, geometric mean, % | worst graph, % | after 1 s at TASO's end or below |",
             "|---|---|---|---|---|"]
    rows = []
    taso = {g: 1 + float(s[0][0]["change_percent"]) / 100 for (p, g, m), s in runs.items() if p == profile and m == "taso"}
    for method in sorted({m for p, _, m in runs if p == profile and m != "taso"}):
        of_method = {g: s for (p, g, m), s in runs.items() if p == profile and m == method and g in taso}
        if not of_method:
            continue
        ends = {g: statistics.mean(1 + float(r["change_percent"]) / 100 for r, _ in s) / taso[g] for g, s in of_method.items()}
        early = sum(statistics.mean(1 + best_at(c, 0, 1) / 100 for _, c in s) <= taso[g] * (1 + 1e-6) for g, s in of_method.items())
        worst = max(ends, key=ends.get)
        rows.append([method, f"{len(ends)}", f"{100 * (statistics.geometric_mean(ends.values()) - 1):.2f}", f"{100 * (ends[worst] - 1):+.2f} ({worst})", f"{early} of {len(ends)}"])
    means = best_bold([row[2] for row in rows])
    return [*lines, *(f"| {' | '.join([*row[:2], mean, *row[3:]])} |" for row, mean in zip(rows, means)), ""]


def plot(runs, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    pairs = sorted({(p, g) for p, g, _ in runs})
    columns = min(4, len(pairs))
    rows = -(-len(pairs) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False)
    colours = {m: f"C{k}" for k, m in enumerate(sorted({m for _, _, m in runs}))}
    for axis, (profile, graph) in zip(axes.flat, pairs):
        for (p, g, method), seeds in runs.items():
            if (p, g) != (profile, graph):
                continue
            for k, (row, curve) in enumerate(seeds):
                x = [max(s, 1e-3) for s, _, _ in curve] + [float(row["seconds"])]
                y = [100 * (us / curve[0][2] - 1) for _, _, us in curve]
                axis.step(x, y + y[-1:], where="post", color=colours[method], label=method if k == 0 else None, linewidth=1)
        axis.set_xscale("log")
        axis.set_title(f"{graph}, {profile}", fontsize=9)
        axis.set_xlabel("seconds", fontsize=8)
        axis.set_ylabel("change of cost, %", fontsize=8)
    for axis in list(axes.flat)[len(pairs):]:
        axis.axis("off")
    axes.flat[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


TABLE = ["profile", "graph", "method", "seed", "before_us", "after_us", "change_percent", "after_1s_percent", "candidates", "seconds", "best_after_s", "clock", "ended_by",
         "revision"]  # fmt: skip


def write_table(runs, revision, path):
    """All runs as one CSV file, a row a run: what pages are made from."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, TABLE, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for (profile, _, _), seeds in sorted(runs.items()):
            for row, curve in seeds:
                writer.writerow(row | {"profile": profile, "after_1s_percent": f"{best_at(curve, 0, 1):.4f}", "revision": revision})


def kept(path, rules, runs):
    """{(profile, graph): change in percent} of the table of best_known.py, where the unmodified graph costs the same as in the runs."""
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        rows = {(r["profile"], r["graph"]): r for r in csv.DictReader(file, delimiter="\t") if r["rules"] == rules}
    found = {}
    for (profile, graph, _), seeds in runs.items():
        row = rows.get((profile, graph))
        if row is not None and abs(float(row["before_us"]) / float(seeds[0][0]["before_us"]) - 1) < 1e-6:
            found[profile, graph] = 100 * (float(row["after_us"]) / float(row["before_us"]) - 1)
    return found


def show(args):
    runs = load(args.folder)
    if not runs:
        sys.exit(f"no runs in {args.folder}: record some first")
    best_known = kept(args.best_known, args.rules, runs)
    for (profile, graph, _), seeds in runs.items():
        best_known[profile, graph] = min([best_known.get((profile, graph), 0.0)] + [float(row["change_percent"]) for row, _ in seeds])
    lines = []
    for profile in sorted({p for p, _, _ in runs}):
        lines += table(runs, profile, best_known)
        lines += summary(runs, profile)
    text = "\n".join(lines)
    print(text)
    if args.out:
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
        from rlgo_results.where import machine  # of set-up's Python, as matplotlib

        picture = f"\n![curves]({args.plot.name})\n" if args.plot else ""
        limits = sorted({round(float(row["seconds"])) for (_, _, m), seeds in runs.items() for row, _ in seeds if row["ended_by"] != "finished" and m != "egraph"})
        clocks = sorted({row["clock"] for seeds in runs.values() for row, _ in seeds})
        args.out.write_text(f"# Searches side by side\n\nMade by `results/searches.py show`, of rlgo {args.revision}; {machine()}. A run has {', '.join(map(str, limits))} s "
                            f"({', '.join(clocks)} time; egraph's integer program may take longer); `best known` is the best of these runs and of results/best-known.tsv.\n{picture}\n{text}", encoding="utf-8")  # fmt: skip
    if args.table:
        write_table(runs, args.revision, args.table)
    if args.plot:
        plot(runs, args.plot)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    recorder = commands.add_parser("record")
    recorder.add_argument("--rlgo", default="build/release/rlgo")
    recorder.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("results/searches"))
    recorder.add_argument("--profiles", default="cpu,gpu", help="cost profiles, or 'measured'")
    recorder.add_argument("--graphs", default="zoo", help="'zoo' is the five of RLFlow's paper, 'all' every model of the zoo")
    recorder.add_argument("--methods", default="greedy,sweep,taso,beam,metaflow,window,anneal,portfolio")
    recorder.add_argument("--rules", default="base,runtime,motion")
    recorder.add_argument("--wall", action="store_true", help="seconds of the wall, not of the processor: on an idle machine")
    recorder.add_argument("--seconds", type=float, default=30, help="of one run")
    recorder.add_argument("--budget", type=int, default=UNLIMITED, help="graphs that a run may try")
    recorder.add_argument("--seeds", type=int, default=5, help="of methods that draw")
    recorder.add_argument("--jobs", type=int, default=1, help="runs side by side; 1 where seconds are to be compared on a small machine")
    recorder.add_argument("options", nargs="*", help="after --: passed on to rlgo search")
    recorder.set_defaults(call=record)
    shower = commands.add_parser("show")
    shower.add_argument("folder", type=pathlib.Path)
    shower.add_argument("--best-known", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "best-known.tsv",
                        help="table of results/best_known.py, next to the best of these runs")  # fmt: skip
    shower.add_argument("--rules", default="base,runtime,motion", help="rule set of that table's rows: the one that the runs used")
    shower.add_argument("--out", type=pathlib.Path, help="Markdown file")
    shower.add_argument("--plot", type=pathlib.Path, help="SVG or PNG file of the curves")
    shower.add_argument("--table", type=pathlib.Path, help="CSV file of all runs, for results/pages.py")
    shower.add_argument("--revision", default="unknown", help="of the rlgo that made the runs, for that table")
    shower.set_defaults(call=show)
    args = parser.parse_args()
    sys.exit(args.call(args))


if __name__ == "__main__":
    main()
