"""Runtimes of optimised graphs: figures 5.1, 5.2 and 5.4. Whole models, measured; what rlgo measured at the end of a run or search
(LibTorch, operator by operator), and races of the written models under other runtimes (race.py)."""
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from .plot import PERCENT, Result, legend, new_figure
from .runs import Run, measured_in, parse_csv, read_trace

AGENTS = ("model-free", "model-based", "hybrid", "random")
SHOWN = {"5.1": (), "5.2": ("model-free",), "5.4": ("model-free", "model-based")}  # agents next to the baselines
TITLES = {"5.1": "baselines", "5.2": "with the model-free agent", "5.4": "with the model-based controller"}
COLOURS = {"unmodified": "#7F7F7F", "no rewriting": "#BBBBBB", "ONNX Runtime": "#56B4E9", "OpenVINO": "#CC79A7", "taso": "#D55E00",
           "greedy": "#E69F00", "model-free": "#0072B2", "model-based": "#009E73", "hybrid": "#8C6D31", "random": "#000000"}  # fmt: skip


@dataclass
class Found:
    """A folder with the outcome of a run, of a search (rlgo search --out GRAPH-METHOD), or an unmodified model."""

    folder: Path
    graph: str
    system: str
    seed: int
    trace: pd.DataFrame | None

    @property
    def model(self):
        return self.folder / "best.onnx"

    @property
    def end_to_end(self):
        return measured_in(self.folder)


def found_in(folder):
    trace = read_trace(folder / "best.trace") if (folder / "best.trace").is_file() else None
    if (folder / "config.cfg").is_file():
        run = Run(folder)
        return Found(folder, run.graph, run.agent, run.seed, trace)
    graph = Path(trace.attrs.get("graph", "")).stem
    name = folder.resolve().name
    system = name[len(graph) :].lstrip("-_") if name.startswith(graph) else name
    return Found(folder, graph, system or name, 0, trace)


def find_results(paths):
    """Outcomes: folders with a best.trace, or folders of such."""
    folders = {}
    for path in map(Path, paths):
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file or folder")
        for file in [path / "best.trace", *sorted(path.glob("*/best.trace"))]:
            if file.is_file():
                folders.setdefault(file.parent.resolve(), file.parent)
    if not folders:
        raise FileNotFoundError(f"{', '.join(map(str, paths))}: no folder with a best.trace in it")
    return [found_in(folder) for folder in folders.values()]


def threads_text(threads):
    return f"{threads} thread{'s' if threads > 1 else ''}"


def row_of(graph, runtime, system, seeds, reference_us):
    """A row of the table from measurements of one graph, runtime and system: means over seeds; of one seed its own interval."""
    one = len(seeds) == 1
    return {"graph": graph, "runtime": runtime, "system": system, "seeds": len(seeds), "before_us": reference_us, "after_us": seeds["after_us"].median(),
            "reference_us": reference_us, "ratio": seeds["ratio"].mean(), "ratio_low": seeds["ratio_low" if one else "ratio"].min(),
            "ratio_high": seeds["ratio_high" if one else "ratio"].max(), "noise": np.nan}  # fmt: skip


def verdicts(results):
    """Rows of what rlgo measured: the unmodified graph once a graph and runtime, and each system, mean over seeds. A system that changed nothing
    has no times of its own: it counts as 1 next to those that were measured on its graph."""
    found = [(result, result.end_to_end) for result in results if result.system != "unmodified"]
    table = pd.DataFrame([t | {"graph": r.graph, "system": r.system} for r, t in found if t])
    if table.empty or not table["threads"].any():
        return pd.DataFrame()
    timed = table[table["threads"] > 0]
    rows = []
    for (graph, name, threads), group in timed.groupby(["graph", "runtime", "threads"], sort=False):
        runtime, before = f"{name}, {threads_text(threads)}", group["before_us"].median()
        unchanged = table[(table["threads"] == 0) & (table["graph"] == graph)].assign(after_us=before)
        original = pd.DataFrame([{"after_us": before, "ratio": 1.0, "ratio_low": 1.0, "ratio_high": 1.0}])
        rows.append(row_of(graph, runtime, "unmodified", original, before))
        rows += [row_of(graph, runtime, system, seeds, before) for system, seeds in pd.concat([group, unchanged]).groupby("system", sort=False)]
    return pd.DataFrame(rows)


def raced(path):
    """Rows of a table of race.py; ratios against the unmodified model under ONNX Runtime."""
    table = parse_csv(path)
    rows = []
    for (graph, threads), group in table.groupby(["graph", "threads"], sort=False):
        reference = group.loc[group["system"] == "ONNX Runtime", "median_us"].iloc[0]
        for _, row in group.iterrows():
            rows.append({"graph": graph, "runtime": f"race, {threads_text(threads)}", "system": row["system"], "seeds": 1,
                         "before_us": reference, "after_us": row["median_us"], "reference_us": reference, "ratio": row["ratio"], "ratio_low": row["ratio_low"],
                         "ratio_high": row["ratio_high"], "noise": row["noise"]})  # fmt: skip
    return pd.DataFrame(rows)


def systems_of(table, figure):
    """In the order of the legend: baselines, then the agents of the figure."""
    present = set(table["system"])
    baselines = [s for s in COLOURS if s in present and s not in AGENTS] + sorted(present - set(COLOURS))
    return baselines + [s for s in SHOWN[figure] if s in present]


def draw(axes, table, systems, graphs):
    top, bottom = axes
    width = 0.8 / len(systems)
    for index, system in enumerate(systems):
        rows = table[table["system"] == system].set_index("graph").reindex(graphs)
        at = np.arange(len(graphs)) + (index - (len(systems) - 1) / 2) * width
        colour = COLOURS.get(system, "#444444")
        top.bar(at, rows["ratio"] * rows["reference_us"] / 1e3, width * 0.92, color=colour, label=system)
        fraction = 100 * rows["ratio"]
        errors = 100 * np.vstack([rows["ratio"] - rows["ratio_low"], rows["ratio_high"] - rows["ratio"]]).clip(min=0)
        bottom.bar(at, fraction - 100, width * 0.92, color=colour)
        bottom.errorbar(at, fraction - 100, yerr=np.nan_to_num(errors), fmt="none", ecolor="black", elinewidth=0.8, capsize=1.5)
    top.set(ylabel="runtime, ms", xticks=range(len(graphs)), xticklabels=[])
    bottom.axhline(0, color="black", linewidth=0.8)
    bottom.set(ylabel="change against the\nunmodified model, %", xticks=range(len(graphs)))
    bottom.set_xticklabels(graphs, rotation=20, ha="right", rotation_mode="anchor")
    legend(top, ncols=4, loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.2)


def by_themselves(results):
    """Of a graph of which some were measured by themselves (latency.txt), these alone: trainings measure next to others."""
    alone = {r.folder: r.graph for r in results if (r.folder / "latency.txt").is_file()}
    return [r for r in results if r.folder in alone or r.graph not in alone.values()]


def runtimes(results, races, figure):
    """Grouped bars: graphs, and within them systems; one column of panels for each runtime that measured."""
    tables = [t for t in [verdicts(by_themselves(results)), *(raced(path) for path in races)] if len(t)]
    if not tables:
        raise ValueError("nothing measured is in what is given: no summary.txt with an 'end to end' line, and no --race table")
    table = pd.concat(tables, ignore_index=True)
    graphs = sorted(table["graph"].unique())
    runtimes_seen = list(dict.fromkeys(table["runtime"]))
    drawn, axes = new_figure(2, len(runtimes_seen), width=1.5 + 5.5 * len(runtimes_seen), height=5.6, gridspec_kw={"height_ratios": [1, 1.1]})
    out = []
    for column, runtime in enumerate(runtimes_seen):
        part = table[table["runtime"] == runtime]
        systems = systems_of(part, figure)
        draw(axes[:, column], part, systems, graphs)
        axes[1, column].set_xlabel(runtime)
        out.append(part[part["system"].isin(systems)])
    drawn.suptitle(f"Runtimes of optimised graphs, {TITLES[figure]}")
    out = pd.concat(out)
    taso = {(row.graph, row.runtime): row.ratio for row in out.itertuples() if row.system == "taso"}
    result = pd.DataFrame({"graph": out["graph"], "measured by": out["runtime"], "system": out["system"], "runs": out["seeds"], "before, ms": out["before_us"] / 1e3,
                           "after, ms": out["after_us"] / 1e3, "change, %": 100 * (out["ratio"] - 1), "low, %": 100 * (out["ratio_low"] - 1),
                           "high, %": 100 * (out["ratio_high"] - 1), "noise, %": 100 * out["noise"],
                           "against taso, %": [100 * (r.ratio / taso.get((r.graph, r.runtime), np.nan) - 1) for r in out.itertuples()]})  # fmt: skip
    notes = [f"{PERCENT}; before: the unmodified model in the same measurement (median); after: median; the change is the mean of paired ratios, so it may differ "
             "from that of the medians; bars in ms: the unmodified model's median with that change, because the machine's load differs between runs;",
             "rlgo: low and high over seeds, of one seed its interval; race: quartiles of rounds, noise: the unmodified model against itself; against taso = runtime / taso's - 1."]  # fmt: skip
    return Result(f"Runtimes, {TITLES[figure]} (figure {figure})", result, notes, drawn), None
