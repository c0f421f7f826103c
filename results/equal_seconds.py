#!/usr/bin/env python3
"""Training an agent against plain searches, in equal seconds: what each finds, from the unmodified graph, training included.

    results/equal_seconds.py record --out results/equal-seconds.csv --runs FOLDER [--graphs G,...] [--profiles gpu] [--seeds 0,1,2]
                                    [--methods agent,taso,anneal,window,portfolio] [--seconds 60] [--jobs 2]
    results/equal_seconds.py show results/equal-seconds.csv

`agent` is `rlgo train --config configs/windows.cfg` without a search afterwards, in one process on one core; its searches at the beginning count
as its time. `untrained` is the same without learning (--ppo.lr 1e-9). Searches run on one core too, as many graphs as they can price, until the processor's seconds are over. Costs are analytic (a formula), so
the machine's speed counts but its noise does not. `--jobs` runs go side by side: no more than there are cores. Rows are appended as runs end; what
FILE or FOLDER has is not run again. `show` prints a table of Markdown: the change of cost of each seed, next to the best graph known of any method
ever (results/best-known.tsv); then how often the agent is within 0.1 % of that, and its cost to that of each search (geometric mean over graphs of the means
over seeds, 95 % intervals over graphs).
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import best_known
from rlgo_results import equal_seconds
from rlgo_results.recorded import rows_in
from rlgo_results.where import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRAPHS = "bert,resnext50,nasrnn,inception_v3,squeezenet1_1,resnet18,resnet50,vit_b16,gpt2,nasnet_a"
TRAINED = {"agent": ("", ()), "untrained": ("-untrained", ("--ppo.lr", 1e-9))}  # what their folders end in, and their options
METHODS = ",".join(["agent", *equal_seconds.SEARCHES])
FIELDS = ["profile", "graph", "method", "seed", "seconds", "before_us", "after_us", "known_us", "starts_us", "work",
          "commit", "machine"]  # known: before these runs; starts: the cheapest that an agent's own searches found; work: steps, graphs priced


def call(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def trained(given, method, profile, graph, seed):
    """(cost before, of the agent's best graph, of the best of the searches that it began from, steps, revision of rlgo) of one training run."""
    folder = given.runs / f"{graph}-{profile}-{seed}{TRAINED[method][0]}"
    if not (folder / "result.json").exists():
        call([given.rlgo, "train", "--config", ROOT / "configs/windows.cfg", "--graph", graph, "--cost", "analytic", "--cost.profile", profile, "--seed", seed,
              "--seconds", given.seconds, "--train.polish", "false", "--device", "cpu", "--store.rollouts", "false", "--check.repeats", 3, "--check.seeds", 1,
              "--quiet", "--runs", given.runs, "--name", folder.name, *TRAINED[method][1]])  # fmt: skip
    result = json.loads((folder / "result.json").read_text())
    if result["options"]["seconds"] != given.seconds:
        raise SystemExit(f"{folder}: a run of {result['options']['seconds']} s, not {given.seconds}; take another --runs")
    with open(folder / "metrics.csv", newline="") as file:
        steps = list(csv.DictReader(file))[-1]["steps"]
    return result["cost"]["before_us"], result["cost"]["agent_us"], result["cost"]["starts_us"], steps, result["rlgo"]["revision"]


def searched(given, method, profile, graph, seed):
    """The same of one search; its work is in graphs priced."""
    text = call([given.rlgo, "search", "--graph", graph, "--cost", "analytic", "--cost.profile", profile, "--methods", method, "--seed", seed, "--seconds", given.seconds,
                 "--budget", 10**12, "--cpu-time", "--quiet", "--json", "-"])  # fmt: skip
    result = json.loads(text)
    row = result["searches"][0]
    return row["before_us"], row["after_us"], "", row["graphs"], result["rlgo"]["revision"]


def record(given):
    given.runs.mkdir(parents=True, exist_ok=True)
    there = {tuple(row[f] for f in FIELDS[:4]) for row in rows_in(given.out)}
    words = {name: [w for w in getattr(given, name).split(",") if w] for name in ("profiles", "graphs", "methods", "seeds")}
    jobs = [(p, g, m, s) for s in words["seeds"] for p in words["profiles"] for g in words["graphs"] for m in words["methods"]
            if (m not in ("taso", "window") or s == words["seeds"][0]) and (p, g, m, s) not in there]  # the others draw nothing

    known = {key[:2]: row["after_us"] for key, row in best_known.read(ROOT / "results/best-known.tsv").items()}

    def one(job):
        profile, graph, method, seed = job
        made = (trained if method in TRAINED else searched)(given, method, profile, graph, int(seed))
        before, after, *how = made
        return dict(zip(FIELDS, (profile, graph, method, seed, given.seconds, before, after, known.get((graph, profile), ""), *how, machine())))

    with open(given.out, "a", newline="", encoding="utf-8") as file, ThreadPoolExecutor(given.jobs) as pool:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        for row in pool.map(one, jobs):
            writer.writerow(row)
            file.flush()
    print(f"{len(jobs)} runs made, {len(there)} were there")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record")
    one.add_argument("--out", type=pathlib.Path, required=True)
    one.add_argument("--runs", type=pathlib.Path, required=True, help="folder of the training runs, outside of the checkout")
    one.add_argument("--rlgo", default=ROOT / "build/release/rlgo")
    one.add_argument("--graphs", default=GRAPHS)
    one.add_argument("--profiles", default="gpu")
    one.add_argument("--seeds", default="0,1,2")
    one.add_argument("--methods", default=METHODS)
    one.add_argument("--seconds", type=int, default=60)
    one.add_argument("--jobs", type=int, default=2)
    two = commands.add_parser("show")
    two.add_argument("file", type=pathlib.Path)
    given = parser.parse_args()
    if given.command == "record":
        record(given)
    else:
        print("\n".join(equal_seconds.table(rows_in(given.file))))


if __name__ == "__main__":
    sys.exit(main())
