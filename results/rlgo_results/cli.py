"""The command line: python -m rlgo_results COMMAND (or results/analyse COMMAND). One command for each figure and table."""
import argparse
import os
import sys
from pathlib import Path

from . import episodes, export, memory, micro, plot, race, record, rulecount, runtimes, searches, temperature, training, watch
from .runs import Run, differing_options, find_runs
from .store import Damaged

WORLD = ("model-based", "hybrid")


def runs_of(options):
    return find_runs(options.paths, getattr(options, "agent", None), getattr(options, "graph", None))


def outcomes_of(options):
    wanted = lambda found, chosen: not chosen or found in chosen  # noqa: E731
    results = runtimes.find_results(options.paths)
    return [r for r in results if wanted(r.graph, getattr(options, "graph", None)) and wanted(r.system, getattr(options, "system", None))]


# ---- commands: each answers (Result, curve or None, runs), or (a text, runs) ----------------------------------------------------


def of_runs(make, agents=None):
    """A command that makes a Result of runs; `agents`: the ones that it takes where none is named."""

    def command(options):
        runs = find_runs(options.paths, options.agent or agents, options.graph)
        return *make(runs, options), runs

    return command


def stored(options):
    result, problems = episodes.episodes(options.paths)
    for line in problems:
        print(f"left out: {line}", file=sys.stderr)
    return result, None, []


def heatmap(options):
    """Agents by what they play in the end (their best graph may be one that they met by chance), searches by their trace."""
    outcomes = outcomes_of(options)
    runs = [] if options.traces else [Run(o.folder) for o in outcomes if (o.folder / "config.cfg").is_file()]
    columns = rulecount.counts_of_rollouts(runs)
    played = {run.path for run in runs}
    columns |= rulecount.counts_of_traces([o for o in outcomes if o.folder not in played])
    what = "on the way to the best graph" if options.traces else "agents: per episode, last tenth of training; searches: to their best graph"
    return *rulecount.heatmap(columns, what, options.top), runs


def run_race(options):
    race.race_all(outcomes_of(options), options.table, options.threads, options.rounds, options.seconds, log=lambda text: print(text, flush=True))
    return f"{options.table}", []


def export_csv(options):
    runs = runs_of(options)
    text = "\n".join(f"{path}: {rows} rows" for path, rows in export.csv(runs, options.folder).items())
    return text, runs


def export_minari(options):
    runs = runs_of(options)
    dataset = export.minari(runs, options.folder, options.name, options.episodes, options.graphs)
    return f"{options.folder}: {dataset.spec.dataset_id}, {dataset.total_episodes} episodes, {dataset.total_steps} steps", runs


def export_tensorboard(options):
    runs = runs_of(options)
    return f"{options.folder}: {export.tensorboard(runs, options.folder)} scalars of {len(runs)} runs; tensorboard --logdir {options.folder}", runs


def watch_run(options):
    watch.watch(options.path, options.seconds, options.once)
    return "", []


# ---- options ----------------------------------------------------------------------------------------------------------


def paths(parser, what="run folders, or folders of run folders"):
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=what)
    parser.add_argument("--graph", action="append", help="only this graph; may be given several times")


def run_options(parser):
    paths(parser)
    parser.add_argument("--agent", action="append", help="only this agent; may be given several times")


def output(parser):
    parser.add_argument("--out", action="append", default=[], type=Path, metavar="FILE",
                        help=".png, .svg, .pdf: the picture; .csv: the table; .md: table and notes; NAME-curve.csv: the lines drawn; may be given several times")  # fmt: skip


def declare(commands):
    def add(name, run, text, *adders):
        parser = commands.add_parser(name, help=text, description=text)
        parser.set_defaults(run=run)
        for adder in adders:
            adder(parser)
        return parser

    add("summary", of_runs(lambda runs, o: training.summary(runs)), "one line a run; names what could not be read", run_options, output)
    add("episodes", stored, "stored episodes of stores, with or without their run folders",
        lambda parser: parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="run folders, folders of parts, parts"), output)
    agents = add("agents", of_runs(lambda runs, o: training.agents(runs, o.at_steps)), "runs side by side, also at equal interactions", run_options, output)
    agents.add_argument("--at-steps", type=int, help="real steps of that comparison (default: the fewest of any run)")
    by = add("compare", of_runs(lambda runs, o: training.compare(runs, o.by)), "runs by an option of theirs: rewards, reward models, hyperparameters", run_options, output)
    by.add_argument("--by", required=True, help="name of the option, as in config.cfg: env.reward, wm.reward-model, ppo.lr, ...")
    unseen = add("elsewhere", of_runs(lambda runs, o: training.elsewhere(runs, o.by)), "runs by an option of theirs, on graphs that they were not trained on", run_options, output)
    unseen.add_argument("--by", required=True, help="name of the option, as in config.cfg; RUN.csv of `rlgo evaluate --graph OTHER --csv` stands next to each run")
    add("options", of_runs(lambda runs, o: training.options(runs)), "options of networks and training (tables of parameters)", run_options, output)
    rewards = add("rewards", of_runs(lambda runs, o: training.rewards(runs, o.column, o.raw), ["model-free"]), "figure 5.3: reward over epochs (default: model-free agents)",
                  run_options, output)  # fmt: skip
    rewards.add_argument("--column", default="episode_reward_mean", help="of metrics.csv (default: episode_reward_mean)")
    rewards.add_argument("--raw", action="store_true", help="as they are, not min-max normalised")
    add("world-loss", of_runs(lambda runs, o: training.world_loss(runs), WORLD), "figure 5.5: log-likelihood loss of world models", run_options, output)
    add("dream-reward", of_runs(lambda runs, o: training.dream_reward(runs), ["model-based"]), "figure 5.6: predicted reward while training in the dream", run_options, output)
    add("cost", of_runs(lambda runs, o: training.cost(runs)), "best cost against interactions and wall-clock", run_options, output)
    add("memory", of_runs(lambda runs, o: memory.memory(runs)), "memory and work of the best graphs", run_options, output)

    outcomes = lambda parser: paths(parser, "run folders, folders of rlgo search --out named GRAPH-METHOD, or folders of these")  # noqa: E731
    heat = add("heatmap", heatmap, "figure 5.7: rules applied, by graph and agent or search", outcomes, output)
    heat.add_argument("--system", action="append", help="only this agent or search; may be given several times")
    heat.add_argument("--traces", action="store_true", help="of agents too the best trace, not the last tenth of their stored episodes")
    heat.add_argument("--top", type=int, default=40, help="rules drawn (default 40)")
    bars = add("runtimes", lambda o: (*runtimes.runtimes(outcomes_of(o), o.race, o.figure), []), "figures 5.1, 5.2, 5.4: runtimes of optimised graphs", outcomes, output)
    bars.add_argument("--figure", choices=list(runtimes.SHOWN), default="5.4", help="5.1 baselines, 5.2 and the model-free agent, 5.4 and the model-based one (default)")
    bars.add_argument("--race", action="append", default=[], type=Path, metavar="FILE", help="table of `race`; may be given several times")
    racing = add("race", run_race, "time written models under ONNX Runtime (and OpenVINO), in rounds, for `runtimes --race`", outcomes)
    racing.add_argument("--system", action="append", help="only this agent or search; may be given several times")
    racing.add_argument("--table", type=Path, required=True, help="CSV file to write; graphs that it has are left as they are")
    racing.add_argument("--threads", type=int, default=1)
    racing.add_argument("--rounds", type=int, default=31, help="at most; at least 7 (default 31)")
    racing.add_argument("--seconds", type=float, default=8.0, help="time of a graph's race, about (default 8)")

    one_file = lambda what: lambda parser: parser.add_argument("path", type=Path, help=what)  # noqa: E731
    add("search-trace", lambda o: (*searches.trace(o.path), []), "best cost of searches over candidates and time", one_file("what rlgo search --curve wrote; NAME.csv next to NAME-curve.csv gives the totals"), output)
    add("temperature", lambda o: (*temperature.sweep(o.path), []), "table 5.1: sweep over the dream's temperature", one_file("temperature.csv, or the folder of the sweep"), output)
    add("micro", lambda o: (*micro.micro(o.path), []), "parts of a search step over the size of the graph", one_file("rlgo_bench_micro --benchmark_format=csv"), output)

    into = lambda parser: parser.add_argument("--folder", type=Path, required=True, help="where to write")  # noqa: E731
    add("export-csv", export_csv, "runs, metrics, episodes and steps as CSV files", run_options, into)
    to_minari = add("export-minari", export_minari, "real episodes as a Minari dataset (needs minari)", run_options, into)
    to_minari.add_argument("--name", help="of the dataset (default: rlgo/GRAPH-AGENT-v0)")
    to_minari.add_argument("--episodes", type=int, default=0, help="of each run, at most; 0: all")
    to_minari.add_argument("--graphs", action="store_true", help="with the graphs themselves, padded to the largest")
    add("export-tensorboard", export_tensorboard, "metrics for TensorBoard (needs tensorboardX)", run_options, into)
    watching = add("watch", watch_run, "a run in the terminal while it continues, until it has ended (Ctrl-C: earlier)", one_file("run folder"))
    watching.add_argument("--seconds", type=float, default=2.0, help="between two pictures (default 2)")
    watching.add_argument("--once", action="store_true", help="one picture")
    every = add("all", lambda o: (record.record(o.folder, o.out, o.only, main), []), "all figures and tables of a folder of runs made by results/record.py")
    every.add_argument("folder", type=Path)
    every.add_argument("--out", type=Path, required=True, help="folder for pictures, tables and README.md")
    every.add_argument("--only", action="append", choices=[name for name, _ in record.COMMANDS], help="only this one; may be given several times")
    published = add("published", lambda o: (record.record(o.folder, o.out, None, main, record.PUBLISHED, "The published agents, small", "published"), []),
                    "tables of the published agents, of the folder that stage published of results/record.py made")  # fmt: skip
    published.add_argument("folder", type=Path)
    published.add_argument("--out", type=Path, required=True, help="folder for pictures, tables and README.md")


# ---- output -----------------------------------------------------------------------------------------------------------


def text_of(result):
    return f"## {result.title}\n\n{plot.markdown(result.table)}\n\n" + "\n".join(result.notes) + "\n"


def write(result, curve, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in (".png", ".svg", ".pdf"):
        if result.figure is None:
            raise ValueError(f"{path}: this command draws no picture; name a .csv or .md file")
        plot.save(result.figure, path)
    elif path.suffix == ".csv":
        table = result.table
        if path.name.endswith("-curve.csv"):
            if curve is None:
                raise ValueError(f"{path}: this command has no lines to write; its table goes to a name without -curve")
            table = curve
        table.to_csv(path, index=False, float_format="%.6g")
    elif path.suffix == ".md":
        path.write_text(text_of(result), encoding="utf-8")
    else:
        raise ValueError(f"{path}: what kind of file? Name a .png, .svg, .pdf, .csv or .md file")


def mixed(runs):
    """A warning where runs that are drawn as one differ in more than their seed."""
    found = {}
    for run in runs:
        found.setdefault((run.graph, run.agent), []).append(run)
    for (graph, agent), group in found.items():
        if names := differing_options(group):
            yield f"note: runs of {graph}, {agent} differ in {', '.join(names)}; they count as one group"


def finish(answer, options):
    if isinstance(answer[0], str):
        print(answer[0], end="\n" if answer[0] else "")
    else:
        result, curve, runs = answer
        print(text_of(result), end="")
        for path in options.out:
            write(result, curve, path)
    for line in dict.fromkeys(problem for run in answer[-1] for problem in run.problems):
        print(f"left out: {line}", file=sys.stderr)
    if options.command not in ("summary", "compare", "options", "agents", "watch") and not options.command.startswith("export"):
        for line in mixed(answer[-1]):
            print(line, file=sys.stderr)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="analyse", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    declare(parser.add_subparsers(dest="command", required=True, metavar="COMMAND"))
    options = parser.parse_args(arguments)
    try:
        finish(options.run(options), options)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, ValueError, Damaged, export.Missing) as error:
        print(f"analyse: {error}", file=sys.stderr)
        return 1
    return 0
