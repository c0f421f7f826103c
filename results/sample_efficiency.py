#!/usr/bin/env python3
"""How many real interactions an agent needs: best cost against real steps, several seeds, with intervals; and whether a world model is
any good on a graph that it was not trained on.

    results/sample_efficiency.py record --rlgo build/release/rlgo --folder runs/efficiency --seeds 5 --jobs 2
    results/sample_efficiency.py record --rlgo build/release/rlgo --folder runs/more --seeds 4-5     # where seeds 1 to 3 are recorded
    results/sample_efficiency.py show runs/efficiency --csv results/sample-efficiency.csv           # rows of other runs stay
    results/sample_efficiency.py dreams --rlgo build/release/rlgo --folder runs/efficiency        # what its dreams promise: results/dream-promises.csv
    results/sample_efficiency.py dreams --rlgo build/release/rlgo --folder runs/repairs --graphs squeezenet1_1 --seeds 1 --budget 2500 --without nothing,locations,locations+counts
    results/sample_efficiency.py promises results/dream-promises.csv FILE...   # of rlgo evaluate --world-model --json FILE
    results/sample_efficiency.py transfer --rlgo build/release/rlgo --folder runs/efficiency --out results/transfer.csv

Every agent plays `--budget` real steps, the reference (model-free) four times as many: does model-based reach with the small budget
what model-free reaches with the large one? Steps are counted as metrics.csv does: those of real environments, random play and evaluations
included, dreams not. A run that is there is not repeated. Costs are analytic, one thread a run.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from rlgo_results import efficiency, promises as promises_of  # noqa: E402
from rlgo_results.recorded import rows_in  # noqa: E402

ZOO = ["squeezenet1_1", "resnet18", "resnet50", "inception_v3", "bert"]
UNTRAINED = ["--ppo.lr", 1e-9]
STEPS = 200  # real steps of an epoch: random play continues to the cap of 200 steps an episode
WORLD = ["--wm.random-fraction", 0.1, "--wm.passes", 8, "--evaluate.every", 2]  # of model-based: else most of the real steps would be chance's


def seeds_in(text):
    """"5": seeds 1 to 5; "4-5": these."""
    first, _, last = text.rpartition("-")
    seeds = range(int(first or 1), int(last) + 1)
    if not seeds:
        raise ValueError(text)
    return seeds


def epochs_for(agent, budget):
    """Epochs with about `budget` real steps. Of a model-based run every third epoch after its first tenth is real (WORLD)."""
    real = budget / STEPS
    return max(2, round(real if agent != "model-based" else real / 0.4))


def called(command, what):
    """Runs a command on one core; says what went wrong, or nothing."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return "" if done.returncode == 0 else f"{what}: {done.stderr.strip().splitlines()[-1:]}"


def run_one(args, graph, agent, seed, name="", options=()):
    """Records one run; says what went wrong, or nothing."""
    name = name or f"{graph}-{agent}-s{seed}"
    if (args.folder / name / "result.json").exists():
        return ""
    budget = args.budget * (efficiency.LONGER if agent == efficiency.REFERENCE else 1)
    words = ["--graph", graph, "--agent", "model-free" if agent == "untrained" else agent, "--seed", seed, "--cost", "analytic", "--cost.profile", args.profile,
             "--epochs", epochs_for(agent, budget), "--train.steps-per-epoch", STEPS, "--gnn.rounds", 2, "--gnn.width", 32, "--train.polish", "false", "--check.repeats", 3,
             "--runs", args.folder, "--name", name, *{"model-based": WORLD, "untrained": UNTRAINED}.get(agent, []), *options, *args.options]
    settings = dict(zip(words[::2], words[1::2]))  # a later one stands for an earlier one
    return called([args.rlgo, "train", "--quiet", *(word for pair in settings.items() for word in pair)], name)


def record(args):
    args.folder.mkdir(parents=True, exist_ok=True)
    jobs = [(graph, agent, seed) for seed in args.seeds for graph in args.graphs for agent in args.agents]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        wrong = [text for text in pool.map(lambda job: run_one(args, *job), jobs) if text]
    print("\n".join([*wrong, f"{len(jobs) - len(wrong)} of {len(jobs)} runs are there"]))
    return 1 if wrong else 0


def show(args):
    rows = efficiency.rows_of(args.folder, args.budget)
    if not rows:
        print(f"{args.folder}: no runs GRAPH-AGENT-sSEED", file=sys.stderr)
        return 1
    if args.csv:
        made = {(row["graph"], row["agent"], row["seed"]) for row in rows}
        rows = sorted([*rows, *(row for row in map(efficiency.typed, rows_in(args.csv)) if (row["graph"], row["agent"], row["seed"]) not in made)], key=efficiency.order)
        with open(args.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, efficiency.FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    print("\n".join(efficiency.table(rows)))
    return 0


PROMISES = ["run", "graph", "clip", "reward_correlation", "counts_exact_1", "steps", "drift", "drift_reward_percent", "counts_exact", "states",
            "real_return_percent", "dream_return_percent", "gap_deviation_percent"]  # fmt: skip


def promises(args):
    """What documents of rlgo evaluate --world-model say, a row for each clip and horizon, and one for whole episodes; rows of other runs stay."""
    kept = [row for row in rows_in(args.out) if row["run"] not in {path.stem for path in args.files}]
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(PROMISES)
        writer.writerows([row[name] for name in PROMISES] for row in kept)
        for path in args.files:
            document = json.loads(path.read_text(encoding="utf-8"))
            for clip in document["world_model"]["clips"]:
                for horizon in clip["horizons"]:
                    known = {**horizon, "run": path.stem, "graph": document["graph"], "clip": clip["clip"],
                             "reward_correlation": clip["reward_correlation"], "counts_exact_1": clip["counts_exact"]}  # fmt: skip
                    writer.writerow([f"{v:.5g}" if isinstance(v := known[name], float) else v for name in PROMISES])
            means = {played["mode"]: played["return_percent"]["mean"] for played in document["played"]}
            whole = {"run": path.stem, "graph": document["graph"], "clip": "as trained", "steps": "episode", "real_return_percent": f"{means['sampled']:.5g}",
                     "dream_return_percent": f"{means['dream']:.5g}"}  # fmt: skip
            writer.writerow([whole.get(name, "") for name in PROMISES])
    return 0


def evaluated(args, run, out, graph=None, episodes=8):
    """The results of rlgo evaluate --world-model for a run; returns what went wrong, or nothing."""
    command = [args.rlgo, "evaluate", "--checkpoint", run, *(["--graph", graph] if graph else []), "--episodes", episodes, "--world-model", "--json", out]
    return called(command, f"{run.name} on {graph}" if graph else run.name)


def dreams(args):
    """The recorded model-based runs, evaluated; with --without, runs that lack one repair each, recorded and evaluated."""
    jobs = [(f"without_{name}", graph, seed) for seed in args.seeds for graph in args.graphs for name in args.without]
    jobs = jobs or [("after", *run.name.rsplit("-model-based-s", 1)) for run in sorted(args.folder.glob("*-model-based-s*")) if (run / "result.json").exists()]

    def one(job):
        form, graph, seed = job
        run, out = args.folder / f"{graph}-model-based-s{seed}", args.folder / f"{form}-{graph}-s{seed}.json"
        wrong = ""
        if form != "after":
            run = args.folder / f"{form}-{graph}-s{seed}"
            wrong = run_one(args, graph, "model-based", seed, run.name, promises_of.REPAIRS[form.removeprefix("without_")])
        return out, wrong or ("" if out.exists() else evaluated(args, run, out))

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        made = list(pool.map(one, jobs))
    args.files = [out for out, wrong in made if not wrong]
    print("\n".join([wrong for _, wrong in made if wrong] + [f"{len(args.files)} of {len(made)} evaluations are there"]))
    promises(args)
    return 1 if len(args.files) < len(made) else 0


def transfer(args):
    """Each model-based run's world model on every graph: the controller of the run plays it."""
    rows = []
    for run in sorted(args.folder.glob("*-model-based-s1")):
        for graph in args.graphs:
            out = args.folder / f"{run.name}.on-{graph}.json"
            if wrong := evaluated(args, run, out, graph, 4):
                print(wrong)
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
    one.add_argument("--agents", type=lambda text: text.split(","), default=efficiency.AGENTS)
    two = commands.add_parser("show")
    two.add_argument("folder", type=pathlib.Path)
    two.add_argument("--csv", type=pathlib.Path, help="writes the rows of the table there")
    three = commands.add_parser("transfer")
    three.add_argument("--out", type=pathlib.Path, required=True)
    four = commands.add_parser("promises")
    four.add_argument("out", type=pathlib.Path)
    four.add_argument("files", type=pathlib.Path, nargs="+")
    five = commands.add_parser("dreams")
    five.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "dream-promises.csv")
    five.add_argument("--without", type=lambda text: text.split(","), default=[], help=f"repairs to leave out, one at a time: {', '.join(promises_of.REPAIRS)}")
    for part in (one, five):
        part.add_argument("--seeds", type=seeds_in, default="5", help="N: seeds 1 to N; N-M: these")
        part.add_argument("--jobs", type=int, default=1)
        part.add_argument("--profile", default="cpu")
        part.add_argument("options", nargs="*", help="behind --: more options of rlgo train")
    for part in (one, three, five):
        part.add_argument("--rlgo", required=True)
        part.add_argument("--folder", type=pathlib.Path, required=True)
        part.add_argument("--graphs", type=lambda text: text.split(","), default=ZOO)
    for part in (one, two, five):
        part.add_argument("--budget", type=int, default=5000, help="real steps")
    args = parser.parse_args(arguments)
    return {"record": record, "show": show, "transfer": transfer, "promises": promises, "dreams": dreams}[args.command](args)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
