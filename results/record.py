#!/usr/bin/env python3
"""Runs every experiment of RLFlow and TASO, in stages, and makes figures and tables of what is recorded.

    results/record.py --folder FOLDER --list                       stages, what is there of each, minutes that the rest takes
    results/record.py --folder FOLDER --budget 8 --jobs 4          goes on for eight hours; call again to go on where it stopped
    results/record.py --folder FOLDER --stages train,figures       these stages alone
    results/record.py --folder FOLDER --stages figures --out results   figures and tables into the checkout

All state is the FOLDER, which should lie outside the checkout. A run that has ended is not repeated; one that was killed begins anew, so
at most --jobs runs are lost. Seeds are the outer loop: whatever the budget, all stages have about as many. Runs have one
thread and run --jobs side by side; what measures time (alone: peers, frameworks, speed, same, race) runs by itself. FOLDER/record.csv
says for each run when it ended, what it took and by which revision. Exit status: 0, 1 where a run failed, 75 where a signal stopped it.
"""
import argparse
import concurrent.futures
import csv
import ctypes
import dataclasses
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import searches

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"
GRAPHS = ["squeezenet1_1", "resnet18", "resnet50", "inception_v3", "bert"]
TEMPERATURES = ["0.1", "0.5", "0.75", "1.0", "1.2", "1.5", "1.75", "2.0", "2.5", "3.0"]
# The same for every agent: a small network, and as many rewrites an episode as the published experiments allow.
SMALL = {"cost": "analytic", "env.max-steps": 200, "gnn.rounds": 2, "gnn.width": 32, "train.steps-per-epoch": 256, "dream.steps-per-epoch": 2048, "wm.passes": 4,
         "evaluate.every": 4, "train.polish": "false", "check.repeats": 3}  # fmt: skip
# One part of the agent changed at a time; the first of each is the default.
ABLATIONS = {
    "gnn.block": {"local": [], "full": ["--gnn.block", "full"]},
    "env.frontier": {"0": [], "0.5": ["--env.frontier", 0.5]},
    "policy.beta": {"15": [], "0.001": ["--policy.beta", 0.001]},  # exact consequences in the prior: with, next to none
    "policy.location-head": {"pointer": [], "index": ["--policy.location-head", "index"]},
}
AGAIN = 75  # exit status of what has more to do


@dataclasses.dataclass
class Run:
    name: str
    seed: int  # runs of a lower one come first
    minutes: float  # as measured on one core of an AMD EPYC; replaced by what runs of the stage took
    commands: list
    done: pathlib.Path | None = None  # what is there once it has ended; none: FOLDER/done/NAME, made here
    part: pathlib.Path | None = None  # becomes `done` at the end
    scratch: pathlib.Path | None = None  # folder that an interrupted run leaves, removed first
    stdout: pathlib.Path | None = None


@dataclasses.dataclass
class Stage:
    name: str
    what: str
    runs: object  # function of the options
    missing: object = lambda args: ""  # why it cannot run here
    alone: bool = False


# ---- stages -------------------------------------------------------------------------------------------------------------


def python():
    """The Python of set-up, or this one."""
    cache = os.environ.get("RLGO_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rlgo"
    for path in (os.environ.get("RLGO_PYTHON"), pathlib.Path(cache) / "venv/bin/python3"):
        if path and pathlib.Path(path).is_file():
            return str(path)
    return sys.executable


def has(module):
    """Whether the Python of set-up finds a module."""
    return subprocess.run([python(), "-c", f"import importlib.util as u, sys; sys.exit(u.find_spec('{module}') is None)"], check=False).returncode == 0


def needs(*modules):
    def reason(_):
        absent = [m for m in modules if not has(m)]
        return f"no Python package {', '.join(absent)}" if absent else ""

    return reason


def search_runs(args):
    given = argparse.Namespace(rlgo=args.rlgo, folder=args.folder / "searches", rules="" if args.rules == "default" else args.rules, seconds=args.seconds,
                               budget=searches.UNLIMITED, wall=False, options=[])  # fmt: skip
    given.folder.mkdir(parents=True, exist_ok=True)
    for profile, graph, method, seed in searches.runs_of(args.profiles, args.search_graphs, args.methods, args.seeds):
        command, part = searches.command_of(given, profile, graph, method, seed)
        table, _ = searches.files_of(given.folder, profile, graph, method, seed)
        yield Run(f"search-{table.stem}", seed, args.seconds / 60, [command], table, part)


def training(args, folder, name, agent, graph, seed, epochs, minutes, more=(), after=()):
    small = [word for key, value in SMALL.items() if f"--{key}" not in args.options for word in (f"--{key}", value)]
    command = [args.rlgo, "train", "--quiet", "--graph", graph, *small, "--agent", agent, "--seed", seed, "--epochs", epochs, "--runs", folder, "--name", name, *more, *args.options]
    return Run(f"{folder.name}-{name}", seed - 1, minutes * epochs / 40, [command, *after], None if after else folder / name / "summary.txt", scratch=folder / name)


MINUTES = {"squeezenet1_1": 0.7, "resnet18": 0.7, "resnet50": 1.5, "inception_v3": 2.0, "bert": 1.8}


def train_runs(args):
    for seed in range(1, args.seeds + 1):
        for graph in args.graphs:
            agents = ["model-free", "model-based"] + (["hybrid", "random"] if graph == args.graphs[0] else [])
            for agent in agents:
                yield training(args, args.runs, f"{graph}-{agent}-s{seed}", agent, graph, seed, args.epochs, MINUTES.get(graph, 1.0))


def baseline_runs(args):
    for graph in args.graphs:
        unmodified, taso = args.runs / f"{graph}-unmodified", args.runs / f"{graph}-taso"
        unmodified.mkdir(parents=True, exist_ok=True)
        trace = unmodified / "best.trace"  # of no rewrites
        trace.write_text(f"rlgo-trace 1\ngraph {graph}\n", encoding="utf-8")
        yield Run(f"unmodified-{graph}", 0, 0.2, [[args.rlgo, "replay", "--graph", graph, "--trace", trace, "--out", unmodified / "best.onnx"]], unmodified / "best.onnx")
        yield Run(f"taso-{graph}", 0, 0.5, [[args.rlgo, "search", "--graph", graph, "--method", "taso", "--cost", "analytic", "--out", taso]], taso / "summary.txt",
                  scratch=taso, stdout=taso / "summary.txt")  # fmt: skip
    table, curve = args.runs / "search.csv", args.runs / "search-curve.csv"
    yield Run("search-traces", 0, 0.5, [[args.rlgo, "search", "--graph", ",".join(args.graphs), "--methods", "greedy,taso,beam,random", "--cost", "analytic",
                                         "--csv", table.with_suffix(".part"), "--curve", curve]], table, table.with_suffix(".part"))  # fmt: skip


def compared(folder, option, values, agent, minutes, epochs=0.5, seeds=None):
    """Runs on the first graph, half as long as the others, that differ in one option."""

    def runs(args):
        for seed in range(1, (seeds or args.seeds) + 1):
            for value, more in values.items():
                yield training(args, args.runs / folder, f"{value}-s{seed}", agent, args.graphs[0], seed, max(1, round(epochs * args.epochs)), minutes, more)

    return runs


def ablation_runs(args):
    for option, values in ABLATIONS.items():
        yield from compared(f"ablations/{option}", option, values, "model-free", 0.6)(args)


def temperature_runs(args):
    folder = args.runs / "temperature"
    for seed in range(1, args.seeds + 1):
        for temperature in TEMPERATURES:
            name = f"t{temperature}-s{seed}"
            evaluate = [args.rlgo, "evaluate", "--checkpoint", folder / name, "--episodes", 20, "--csv", folder / f"{name}.csv"]
            graph = ["--zoo.layers", 1] if args.temperature_graph == "bert" else []
            yield training(args, folder, name, "model-based", args.temperature_graph, seed, max(1, round(0.4 * args.epochs)), 0.6,
                           [*graph, "--dream.temperature", temperature], [evaluate])  # fmt: skip


def efficiency_runs(args):
    folder = args.folder / "efficiency"
    for seed in range(1, args.seeds + 1):
        for graph in args.graphs:
            for agent in ("model-based", "model-free", "untrained", "random"):
                run = folder / f"{graph}-{agent}-s{seed}"
                command = [python(), RESULTS / "sample_efficiency.py", "record", "--rlgo", args.rlgo, "--folder", folder, "--graphs", graph, "--agents", agent, "--seeds", f"{seed}-{seed}"]
                yield Run(f"efficiency-{run.name}", seed - 1, 1.5, [command], run / "result.json", scratch=run)


WINDOWS = ["squeezenet1_1", "resnet50", "bert"]


def window_variants():
    spec = importlib.util.spec_from_file_location("windows", RESULTS / "windows.py")
    windows = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(windows)
    return list(windows.VARIANTS)


def window_runs(args):
    """Of build/release/rlgo, which is what results/windows.py takes."""
    folder, variants = args.folder / "windows", window_variants()
    for seed in range(args.seeds):
        for graph in WINDOWS:
            for variant in variants:
                run = folder / f"{graph}-{variant.replace(' ', '_')}-{seed}"
                command = [python(), RESULTS / "windows.py", "--graphs", graph, "--seeds", seed, "--variants", variant, "--budgets", "", "--jobs", 1, "--out", folder]
                yield Run(f"windows-{run.name}", seed, 1.0, [command], run / "result.json", scratch=run)


def window_table(args):
    """Command that prints the table of the seeds of which all runs are there; nothing where there is none."""
    runs = list(window_runs(args)) if not script("windows.py")(args) else []
    seeds = sorted({run.seed for run in runs} - {run.seed for run in runs if not run.done.exists()})
    return [python(), RESULTS / "windows.py", "--graphs", ",".join(WINDOWS), "--seeds", ",".join(map(str, seeds)), "--variants", ",".join(window_variants()), "--jobs", args.jobs,
            "--out", args.folder / "windows"] if seeds else []  # fmt: skip


def script(name):
    return lambda args: "" if (RESULTS / name).is_file() else f"results/{name} is not in this checkout"


def one(name, minutes, command):
    return lambda args: [Run(name, 0, minutes, [command(args)])]


def peers_command(args):
    return [python(), RESULTS / "peers.py", "--rlgo", args.rlgo, "--out", args.folder / "peers", "--until-s", max(1, round(args.left_s() - 120))]


def race_command(args):
    return [RESULTS / "analyse", "race", args.runs, "--table", args.runs / "race.csv"]


def frameworks_command(args):
    return [python(), RESULTS / "frameworks.py", "--rlgo", args.rlgo, "--out", args.folder]


def without_torchvision(_):
    reference = pathlib.Path(os.environ.get("RLGO_CACHE") or pathlib.Path.home() / ".cache/rlgo") / "references/torchvision"
    return "" if reference.is_dir() or has("torchvision") else "no Python package torchvision: RLGO_SETUP_REFERENCES=1 launch/scripts/setup.sh"


def speed_command(args):
    return [args.rlgo, "bench", "--graphs", "resnet50,bert", "--bench.seconds", 2, "--json", args.folder / "speed.json"]


def same_command(args):
    return [python(), RESULTS / "aa.py", "--rlgo", args.rlgo, "--runs", 50, "--out", args.folder / "aa.csv"]


def never(reason):
    return lambda args: reason


STAGES = [
    Stage("peers", "rlgo and the tools that people use, in ONNX Runtime (README's table)", one("peers", 35, peers_command), needs("onnxruntime", "onnx"), alone=True),
    Stage("frameworks", "PyTorch, torch.compile, TensorFlow and Grappler, OpenVINO, ONNX Runtime, rlgo: the same models, the same weights", one("frameworks", 11, frameworks_command), without_torchvision, alone=True),
    Stage("searches", "plain searches on every graph and cost profile, at equal processor time", search_runs),
    Stage("baselines", "unmodified models, TASO's search, search traces", baseline_runs),
    Stage("train", "agents on each graph (figures 5.2 to 5.7, cost against steps and seconds, memory)", train_runs),
    Stage("rewards", "reward formulas R1, R2, R3, R5", compared("rewards", "env.reward", {r: ["--env.reward", r] for r in ("R1", "R2", "R3", "R5")}, "model-free", 0.6)),
    Stage("reward-model", "reward predicted by the world model's own head, or by a network of its own",
          compared("reward-model", "wm.reward-model", {m: ["--wm.reward-model", m] for m in ("joint", "separate")}, "model-based", 0.6)),
    Stage("ablations", "one part of the agent changed at a time: " + ", ".join(ABLATIONS), ablation_runs),
    Stage("temperature", "temperatures of the dream (table 5.1)", temperature_runs),
    Stage("efficiency", "best cost against real steps, model-free with four times as many (results/sample_efficiency.py)", efficiency_runs, script("sample_efficiency.py")),
    Stage("windows", "agents in windows, parts left out (results/windows.py)", window_runs, script("windows.py")),
    Stage("speed", "time of a real and of a dreamed step", one("speed", 2, speed_command), alone=True),
    Stage("race", "trained and searched graphs in ONNX Runtime and OpenVINO (figures 5.1, 5.2, 5.4)", one("race", 2, race_command), needs("onnxruntime"), alone=True),
    Stage("same", "false positives: a model against itself (results/aa.py)", one("same", 7, same_command), alone=True),
    Stage("reward-measured", "reward R4, which times the whole graph at each step; beside other work it learns from noise",
          compared("rewards", "env.reward", {"R4": ["--env.reward", "R4", "--cost.warmup", 0, "--cost.repeats", 1]}, "model-free", 12), alone=True),
    Stage("tensorrt", "TensorRT", lambda args: [], never("needs an NVIDIA GPU; `--target` with a measurer of your own is the place for it (docs/measurers.md)")),
    Stage("planning", "planning with a trained agent against other searches", lambda args: [], never("it needs an agent file: results/agents.py record (results/agents.md)")),
    Stage("risk-seeking", "risk-seeking updates left out", lambda args: [], never("rlgo has none: they were tried and did not help (results/agents.md)")),
    Stage("flat", "one head over rules times locations; GCN in place of message passing", lambda args: [], never("rlgo has neither as an option")),
]


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


def merged_temperatures(folder):
    """temperature.csv of the tables of single runs."""
    rows = [row for path in sorted(folder.glob("t*-s*.csv")) for row in csv.DictReader(open(path, newline="", encoding="utf-8"))]
    if rows:
        with open(folder / "temperature.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


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


def figures(args):
    """Makes all that can be made of what is recorded; returns whether that went well."""
    commands, out, table = [], args.out, []
    out.mkdir(parents=True, exist_ok=True)
    if any(args.runs.rglob("summary.txt")):
        merged_temperatures(args.runs / "temperature")
        commands.append([RESULTS / "analyse", "all", args.runs, "--out", out / "figures"])
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
    for name, target in (("peers", out / "peers"), ("frameworks.csv", out), ("aa.csv", out), ("record.csv", out)):
        source = args.folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.is_file():
            shutil.copy(source, target)
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
    version = subprocess.run([args.rlgo, "--version"], capture_output=True, text=True, check=True).stdout
    args.revision = version.strip().rpartition("(")[2].rstrip(")")
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
        print("stopped: the same call goes on", file=sys.stderr)
        return AGAIN
    good = not recorder.failed
    if "figures" in args.stages:
        good &= figures(args)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
