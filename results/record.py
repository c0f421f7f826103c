#!/usr/bin/env python3
"""Runs every experiment of RLFlow and TASO, in stages, and makes figures and tables of what is recorded.

    results/record.py --folder FOLDER --list                       stages, what is there of each, minutes that the rest takes
    results/record.py --folder FOLDER --budget 8 --jobs 4          continues for eight hours; call again to continue where it stopped
    results/record.py --folder FOLDER --stages train,figures       these stages alone
    results/record.py --folder FOLDER --stages figures --out results   figures and tables into the checkout

All state is the FOLDER, which should lie outside the checkout. A run that has ended is not repeated; one that was killed starts again, so
at most --jobs runs are lost. Seeds are the outer loop: whatever the budget, all stages have about as many. Runs have one
thread and run --jobs side by side; what measures time (alone: peers, frameworks, speed, same, race) runs by itself. FOLDER/record.csv
says for each run when it ended, what it took and by which revision. Exit status: 0, 1 where a run failed, 75 where a signal stopped it.
"""
import argparse
import concurrent.futures
import csv
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

from rlgo_results.columns import renamed
from rlgo_results.where import revision
from stages import GRAPHS, RESULTS, ROOT, STAGES, python, script, window_table

AGAIN = 75  # exit status of what has more to do


# ---- running ------------------------------------------------------------------------------------------------------------


def with_parent():
    """In a child, before its program: it ends when its parent is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Recorder:
    def __init__(self, args):
        self.args, self.lock, self.children, self.stopping = args, threading.Lock(), set(), False
        self.failed, self.took = [], self.recorded_minutes()

    def recorded_minutes(self):
        """{stage: mean minutes of a run} of FOLDER/record.csv."""
        found = {}
        if (self.args.folder / "record.csv").is_file():
            with open(self.args.folder / "record.csv", newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    found.setdefault(row["stage"], []).append(float(row["seconds"]) / 60)
        return {stage: sum(minutes) / len(minutes) for stage, minutes in found.items()}

    def marker(self, run):
        return run.done or self.args.folder / "done" / run.name

    def minutes(self, stage, run):
        return self.took.get(stage.name, run.minutes) if not stage.alone else run.minutes

    def execute(self, stage, run):
        """Runs it, unless too little time is left."""
        left = self.args.left_s()
        if self.stopping or left < 30 or (not stage.alone and left < 60 * self.minutes(stage, run)):
            return
        if run.scratch:
            shutil.rmtree(run.scratch, ignore_errors=True)
        log = self.args.folder / "logs" / f"{run.name}.log"
        begin, status = time.monotonic(), 0
        for command in run.commands:
            status = self.call([str(c) for c in command], log, run.stdout, max(1, self.args.left_s()))
            if status != 0:
                break
        if status == 0:
            self.ended(stage, run, time.monotonic() - begin)
        elif status not in (AGAIN, None) and not self.stopping:
            self.failed.append(run.name)
            lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            print(f"{run.name}: status {status}: {lines[-1] if lines else 'no word'} ({log})", file=sys.stderr, flush=True)

    def call(self, command, log, stdout, limit_s):
        """Exit status of a command; None where time was over."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "w", encoding="utf-8") as file:
            target = file
            if stdout:
                part = stdout.parent.with_suffix(".out")
                part.parent.mkdir(parents=True, exist_ok=True)
                target = open(part, "w", encoding="utf-8")  # noqa: SIM115
            child = subprocess.Popen(command, stdout=target, stderr=file, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=with_parent, cwd=ROOT,
                                     env={**os.environ, "OMP_NUM_THREADS": "1"})  # fmt: skip
            with self.lock:
                self.children.add(child)
            try:
                status = child.wait(limit_s)
            except subprocess.TimeoutExpired:
                self.end(child)
                status = None
            with self.lock:
                self.children.discard(child)
            if stdout:
                target.close()
                if status == 0:
                    stdout.parent.mkdir(parents=True, exist_ok=True)
                    part.rename(stdout)
            return status

    @staticmethod
    def end(child):
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()

    def stop(self, *_):
        self.stopping = True
        with self.lock:
            for child in self.children:
                self.end(child)

    def ended(self, stage, run, seconds):
        if run.part:
            run.part.rename(run.done)
        elif not run.done:
            self.marker(run).parent.mkdir(parents=True, exist_ok=True)
            self.marker(run).touch()
        file = self.args.folder / "record.csv"
        with self.lock:
            new = not file.exists()
            with open(file, "a", newline="", encoding="utf-8") as out:
                writer = csv.writer(out, lineterminator="\n")
                if new:
                    writer.writerow(["stage", "run", "seconds", "ended", "revision", "jobs"])
                writer.writerow([stage.name, run.name, f"{seconds:.1f}", time.strftime("%Y-%m-%d %H:%M", time.gmtime()), self.args.revision, 1 if stage.alone else self.args.jobs])
        print(f"{run.name}: {seconds:.0f} s", flush=True)

    def left(self, runs):
        return [run for run in runs if not self.marker(run).exists()]

    def go(self, stages):
        groups = {}
        for number, stage in enumerate(stages):
            if not stage.missing(self.args):
                for run in self.left(stage.runs(self.args)):
                    groups.setdefault((run.seed, number), (stage, []))[1].append(run)
        for _, (stage, runs) in sorted(groups.items(), key=lambda item: item[0]):
            with concurrent.futures.ThreadPoolExecutor(1 if stage.alone else self.args.jobs) as pool:
                list(pool.map(lambda run, stage=stage: self.execute(stage, run), runs))

    def show(self, stages):
        print(f"{'stage':16} {'state':14} {'minutes':>8}  what")
        for stage in stages:
            reason = stage.missing(self.args)
            if reason:
                print(f"{stage.name:16} {'cannot run':14} {'':>8}  {stage.what}: {reason}")
                continue
            runs = list(stage.runs(self.args))
            left = self.left(runs)
            state = "done" if not left else "missing" if len(left) == len(runs) else f"part: {len(runs) - len(left)} of {len(runs)}"
            minutes = sum(self.minutes(stage, run) for run in left) / (1 if stage.alone else self.args.jobs)
            print(f"{stage.name:16} {state:14} {minutes:8.1f}  {stage.what}")


# ---- figures and tables -------------------------------------------------------------------------------------------------


def merged(files, target, column=None):
    """A table of several, with a column for what their names end in where it is named; nothing where there is none."""
    rows = [({column: path.stem.split("-", 1)[1]} if column else {}) | row for path in sorted(files) for row in csv.DictReader(open(path, newline="", encoding="utf-8"))]
    if rows:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def recorded(source, target):
    """Copies record.csv; what an earlier one has of other stages stays."""
    lines = source.read_text(encoding="utf-8").splitlines()
    stage = lambda line: line.split(",", 1)[0]  # noqa: E731
    here = {stage(line) for line in lines}
    before = target.read_text(encoding="utf-8").splitlines()[1:] if target.is_file() else []
    target.write_text("\n".join([lines[0], *(line for line in before if stage(line) not in here), *lines[1:]]) + "\n", encoding="utf-8")


def speed_table(source, target):
    """speed.csv of what rlgo bench --json said: steps a second, real and dreamed."""
    document = json.loads(source.read_text(encoding="utf-8"))
    with open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["graph", "batch", "dream_steps_per_s", "actor_steps_per_s", "environment_steps_per_s", "revision"])
        for graph in document["graphs"]:
            for dream in graph["dream"]:
                writer.writerow([graph["graph"], dream["batch"], f"{dream['steps_per_s']:.6g}", f"{graph['actor_steps_per_s']:.6g}", f"{graph['environment_steps_per_s']:.6g}",
                                 document["rlgo"]["revision"]])  # fmt: skip


SWAPS = ["form", "graph", "seed", "prefix", "true", "steps", "return_percent", "gap_deviation_percent", "illegal_fraction", "counts_wrong_fraction", "latent_distance", "before_percent",
         "starts", "revision"]  # fmt: skip


def swap_table(documents, target):
    """swaps.csv of what rlgo evaluate --swaps --json states, files FORM-GRAPH-sSEED/swaps-PREFIX.json; nothing where there is none."""
    rows = []
    for path in sorted(documents):
        document = json.loads(path.read_text(encoding="utf-8"))
        check, (form, graph, seed) = document["swaps"], path.parent.name.split("-")
        of = {"form": form, "graph": graph, "seed": seed.removeprefix("s"), "prefix": check["prefix"], "starts": check["starts"], "before_percent": f"{check['before_percent']:.5g}",
              "revision": document["rlgo"]["revision"]}  # fmt: skip
        for swap in [*map(renamed, check["swaps"]), {"true": "random play", "horizons": check["random"]}]:
            fractions = {name: f"{swap[name]:.5g}" for name in ("illegal_fraction", "counts_wrong_fraction", "latent_distance") if name in swap}
            for at in swap["horizons"]:
                rows.append(of | fractions | {"true": swap["true"], "steps": at["steps"]} | {name: f"{at[name]:.5g}" for name in ("return_percent", "gap_deviation_percent")})
    if rows:
        with open(target, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, SWAPS, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def figures(args):
    """Makes all that can be made of what is recorded; returns whether that went well."""
    commands, out, table = [], args.out, []
    out.mkdir(parents=True, exist_ok=True)
    published = args.runs / "published"
    if any(path for path in args.runs.rglob("summary.txt") if published not in path.parents):
        merged((args.runs / "temperature").glob("t*-s*.csv"), args.runs / "temperature/temperature.csv")
        commands.append([RESULTS / "analyse", "all", args.runs, "--out", out / "figures"])
    if any(published.rglob("summary.txt")):
        commands.append([RESULTS / "analyse", "published", published, "--out", out / "published-agents"])
    for name, column in (("dequeued", "expansions"), ("rules", "rules")):
        merged((args.runs / name).glob("*.csv"), out / f"published-agents/search-{name}.csv", column)
    if any((args.folder / "searches").glob("*.curve.csv")):
        commands.append([python(), RESULTS / "searches.py", "show", args.folder / "searches", "--out", out / "searches.md", "--plot", out / "searches.png",
                         "--table", out / "searches.csv", "--revision", args.revision, "--rules", args.rules])  # fmt: skip
    if (args.folder / "efficiency").is_dir() and not script("sample_efficiency.py")(args):
        commands.append([python(), RESULTS / "sample_efficiency.py", "show", args.folder / "efficiency", "--csv", out / "sample-efficiency.csv"])
    if table := window_table(args):
        commands.append(table)
    good = True
    for command in commands:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode == 0 and command == table:
            (out / "windows.md").write_text(f"# Agents in windows, parts left out\n\nMade by `results/windows.py`; rlgo {args.revision}; profile gpu, a simulation.\n\n{done.stdout}", encoding="utf-8")
        good &= done.returncode == 0
        print(f"{pathlib.Path(command[0]).name if command[0] != python() else pathlib.Path(command[1]).name}: "
              + ("made" if done.returncode == 0 else "failed") + (f"\n{done.stderr.strip()}" if done.stderr.strip() else ""), flush=True)  # fmt: skip
    for page in (out / folder / "README.md" for folder in ("figures", "published-agents")):
        if page.is_file():  # of any machine
            page.write_text(page.read_text(encoding="utf-8").replace(str(args.folder), "FOLDER").replace(f"{ROOT}/", ""), encoding="utf-8")
    if (args.folder / "record.csv").is_file():
        recorded(args.folder / "record.csv", out / "record.csv")
    for name, target in (("peers", out / "peers"), ("frameworks.csv", out), ("aa.csv", out)):
        source = args.folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.is_file():
            shutil.copy(source, target)
    swap_table((args.runs / "dreams").glob("*/swaps-*.json"), out / "swaps.csv")
    if (args.folder / "speed.json").is_file():
        speed_table(args.folder / "speed.json", out / "speed.csv")
    print(out)
    return good


# ---- command line -------------------------------------------------------------------------------------------------------


def listed(text):
    return [part for part in text.split(",") if part]


def options():
    names = [stage.name for stage in STAGES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where all that is recorded stays; outside the checkout")
    parser.add_argument("--list", action="store_true", help="says what there is and what is missing, runs nothing")
    parser.add_argument("--budget", type=float, default=1e6, help="hours; no run begins that would not end in it, one that does not end in it is killed (default: no limit)")
    parser.add_argument("--stages", type=listed, default=[*names, "figures"], help=f"of {', '.join(names)}, figures (default: all)")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side, a core each")
    parser.add_argument("--rlgo", default=str(ROOT / "build/release/rlgo"))
    parser.add_argument("--out", type=pathlib.Path, help="where figures and tables go (default: FOLDER/out)")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--graphs", type=listed, default=GRAPHS, help="of the trainings")
    parser.add_argument("--temperature-graph", default="bert", help="one layer of it")
    parser.add_argument("--epochs", type=int, default=40, help="of a training, 256 real steps each; the published experiments have 2,000 (default 40)")
    parser.add_argument("--search-graphs", type=listed, default=["all"])
    parser.add_argument("--profiles", type=listed, default=["cpu", "gpu"])
    parser.add_argument("--methods", type=listed, default=["greedy", "sweep", "taso", "metaflow", "window", "anneal", "portfolio", "egraph"])
    parser.add_argument("--rules", default="base,runtime,motion", help="of the searches")
    parser.add_argument("--seconds", type=float, default=10, help="processor time of a search")
    parser.add_argument("options", nargs="*", help="after --: passed on to rlgo train, in place of what this script says")
    args = parser.parse_args()
    unknown = set(args.stages) - set(names) - {"figures"}
    if unknown:
        parser.error(f"no stage {', '.join(sorted(unknown))}; there are {', '.join(names)}, figures")
    args.rlgo = str(pathlib.Path(args.rlgo).resolve())
    args.folder = args.folder.resolve()
    args.runs, args.out = args.folder / "runs", (args.out or args.folder / "out").resolve()
    args.runs.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + 3600 * args.budget
    args.left_s = lambda: min(deadline - time.monotonic(), 1e6)
    return args


def main():
    args = options()
    args.revision = revision(args.rlgo)
    recorder = Recorder(args)
    stages = [stage for stage in STAGES if stage.name in args.stages]
    if args.list:
        recorder.show(stages)
        return 0
    for event in (signal.SIGINT, signal.SIGTERM):
        signal.signal(event, recorder.stop)
    for stage in stages:
        if reason := stage.missing(args):
            print(f"{stage.name} cannot run here: {reason}", flush=True)
    recorder.go(stages)
    if recorder.stopping:
        print("stopped: the same call continues", file=sys.stderr)
        return AGAIN
    good = not recorder.failed
    if "figures" in args.stages:
        good &= figures(args)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
