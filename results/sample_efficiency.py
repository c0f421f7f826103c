#!/usr/bin/env python3
"""How many real interactions an agent needs: best cost against real steps, several seeds, with intervals; and whether a world model is
any good on a graph that it was not trained on.

    results/sample_efficiency.py record --rlgo build/release/rlgo --folder runs/efficiency --seeds 5 --jobs 2
    results/sample_efficiency.py show runs/efficiency --out results/sample-efficiency.md
    results/sample_efficiency.py promises results/dream-promises.csv FILE...   # of rlgo evaluate --world-model --json FILE
    results/sample_efficiency.py transfer --rlgo build/release/rlgo --folder runs/efficiency --out results/transfer.csv

Every agent plays `--budget` real steps, the reference (model-free) four times as many: does model-based reach with the small budget
what model-free reaches with the large one? Steps are counted as metrics.csv does: those of real environments, random play and evaluations
included, dreams not. A run that is there is not repeated. Costs are analytic, one thread a run.
"""
import argparse
import bisect
import concurrent.futures
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from rlgo_results.temperature import T95  # noqa: E402

ZOO = ["squeezenet1_1", "resnet18", "resnet50", "inception_v3", "bert"]
AGENTS = ["model-based", "model-free", "random"]
REFERENCE = "model-free"
STEPS = 256  # real steps of an epoch
TOLERANCE = 0.01  # percent of the initial cost: costs closer than that are the same


def epochs_for(agent, budget):
    """Epochs with about `budget` real steps. Of a model-based run every fifth epoch after its first half is real."""
    real = budget / STEPS
    return max(2, round(real if agent != "model-based" else real / 0.6))


def run_one(args, graph, agent, seed):
    """Records one run; says what went wrong, or nothing."""
    name = f"{graph}-{agent}-s{seed}"
    if (args.folder / name / "result.json").exists():
        return ""
    budget = args.budget * (4 if agent == REFERENCE else 1)
    command = [args.rlgo, "train", "--graph", graph, "--agent", agent, "--seed", seed, "--cost", "analytic", "--cost.profile", args.profile,
               "--epochs", epochs_for(agent, budget), "--train.steps-per-epoch", STEPS, "--evaluate.every", 4, "--gnn.rounds", 2,
               "--gnn.width", 32, "--train.polish", "false", "--check.repeats", 3, "--runs", args.folder, "--name", name, "--quiet",
               *args.options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, env=environment)
    return "" if done.returncode == 0 else f"{name}: {done.stderr.strip().splitlines()[-1:]}"


def curve(run):
    """(real steps, best change so far in percent of the initial cost), in order; best changes only fall."""
    initial = json.loads((run / "result.json").read_text(encoding="utf-8"))["cost"]["before_us"]
    with open(run / "metrics.csv", newline="", encoding="utf-8") as file:
        return [(int(row["steps"]), 100 * (float(row["best_cost_us"]) / initial - 1)) for row in csv.DictReader(file)]


def best_at(points, steps):
    """Best change with at most so many real steps; 0, the unmodified graph, before the first record."""
    at = bisect.bisect_right([p[0] for p in points], steps)
    return points[at - 1][1] if at > 0 else 0.0


def interval(values):
    """Mean and half the width of the 95 % t-interval; nan for one value."""
    if len(values) < 2:
        return statistics.fmean(values), float("nan")
    degrees = len(values) - 1
    t = T95[degrees] if degrees < len(T95) else 1.96
    return statistics.fmean(values), t * statistics.stdev(values) / len(values) ** 0.5


def read_runs(folder):
    """{graph: {agent: [curve of each seed]}}"""
    runs = {}
    for result in sorted(folder.glob("*-s*/result.json")):
        for agent in AGENTS:
            head, _, _ = result.parent.name.rpartition("-s")
            if head.endswith("-" + agent):
                runs.setdefault(head[: -len(agent) - 1], {}).setdefault(agent, []).append(curve(result.parent))
    return runs


def table(runs, budget):
    """Markdown: best change at some budgets, then whether the small budget suffices."""
    budgets = [budget // 5, budget // 2, budget]
    lines = [f"Best change of cost in percent, mean +- half of the 95 % interval over seeds, with at most {', '.join(map(str, budgets))} real steps; of "
             f"{REFERENCE} with {4 * budget}, too.", "",
             "| graph | agent | seeds | " + " | ".join(map(str, budgets)) + f" | {4 * budget} |", "|---|---|---|" + "---|" * (len(budgets) + 1)]  # fmt: skip
    reached = []
    for graph, agents in runs.items():
        for agent, curves in agents.items():
            cells = []
            for steps in [*budgets, 4 * budget]:
                if steps > budget and agent != REFERENCE:
                    cells.append("")
                    continue
                mean, half = interval([best_at(c, steps) for c in curves])
                cells.append(f"{mean:.2f} +- {half:.2f}")
            lines.append(f"| {graph} | {agent} | {len(curves)} | " + " | ".join(cells) + " |")
        if "model-based" in agents and REFERENCE in agents:
            small = statistics.fmean(best_at(c, budget) for c in agents["model-based"])
            large = statistics.fmean(best_at(c, 4 * budget) for c in agents[REFERENCE])
            reached.append((graph, small <= large + TOLERANCE))
    lines += ["", f"model-based reaches with {budget} real steps what {REFERENCE} reaches with {4 * budget}: "
              + (", ".join(f"{graph} {'yes' if yes else 'no'}" for graph, yes in reached) or "no pair of runs") + "."]  # fmt: skip
    return "\n".join(lines) + "\n"


def record(args):
    args.folder.mkdir(parents=True, exist_ok=True)
    jobs = [(graph, agent, seed) for seed in range(1, args.seeds + 1) for graph in args.graphs for agent in args.agents]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        wrong = [text for text in pool.map(lambda job: run_one(args, *job), jobs) if text]
    print("\n".join([*wrong, f"{len(jobs) - len(wrong)} of {len(jobs)} runs are there"]))
    return 1 if wrong else 0


def show(args):
    text = table(read_runs(args.folder), args.budget)
    if args.out:
        args.out.write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


PROMISES = ["run", "graph", "clip", "reward_correlation", "counts_exact_1", "steps", "drift", "drift_reward_percent", "counts_exact", "states",
            "real_return_percent", "dream_return_percent", "gap_deviation_percent"]  # fmt: skip


def promises(args):
    """What documents of rlgo evaluate --world-model say, a row for each clip and horizon."""
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(PROMISES)
        for path in args.files:
            document = json.loads(path.read_text(encoding="utf-8"))
            for clip in document["world_model"]["clips"]:
                for horizon in clip["horizons"]:
                    known = {**horizon, "run": path.stem, "graph": document["graph"], "clip": clip["clip"],
                             "reward_correlation": clip["reward_correlation"], "counts_exact_1": clip["counts_exact"]}  # fmt: skip
                    writer.writerow([f"{v:.5g}" if isinstance(v := known[name], float) else v for name in PROMISES])
    return 0


def transfer(args):
    """Each model-based run's world model on every graph: the controller of the run plays it."""
    rows = []
    for run in sorted(args.folder.glob("*-model-based-s1")):
        for graph in args.graphs:
            out = args.folder / f"{run.name}.on-{graph}.json"
            command = [args.rlgo, "evaluate", "--checkpoint", run, "--graph", graph, "--episodes", "4", "--world-model", "--json", out]
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"{run.name} on {graph}: {done.stderr.strip().splitlines()[-1:]}")
                continue
            world = json.loads(out.read_text(encoding="utf-8"))["world_model"]["clips"][-1]
            ten = next(h for h in world["horizons"] if h["steps"] == 10)
            rows.append([run.name, graph, world["reward_correlation"], world["counts_exact"], ten["counts_exact"], ten["real_return_percent"],
                         ten["dream_return_percent"]])
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", "graph", "reward_correlation", "counts_exact_1", "counts_exact_10", "real_return_10", "dream_return_10"])
        writer.writerows(rows)
    return 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record")
    one.add_argument("--agents", type=lambda text: text.split(","), default=AGENTS)
    one.add_argument("--seeds", type=int, default=5)
    one.add_argument("--jobs", type=int, default=1)
    one.add_argument("--profile", default="cpu")
    one.add_argument("options", nargs="*", help="behind --: more options of rlgo train")
    two = commands.add_parser("show")
    two.add_argument("folder", type=pathlib.Path)
    two.add_argument("--out", type=pathlib.Path)
    three = commands.add_parser("transfer")
    three.add_argument("--out", type=pathlib.Path, required=True)
    four = commands.add_parser("promises")
    four.add_argument("out", type=pathlib.Path)
    four.add_argument("files", type=pathlib.Path, nargs="+")
    for part in (one, three):
        part.add_argument("--rlgo", required=True)
        part.add_argument("--folder", type=pathlib.Path, required=True)
        part.add_argument("--graphs", type=lambda text: text.split(","), default=ZOO)
    for part in (one, two):
        part.add_argument("--budget", type=int, default=5000, help="real steps")
    args = parser.parse_args(arguments)
    return {"record": record, "show": show, "transfer": transfer, "promises": promises}[args.command](args)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
