"""Run folders: options, metrics, the closing summary; also of runs that continue or were killed."""
import csv
import io
import math
import re
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from . import store
from .columns import RENAMED

END_TO_END = re.compile(
    r"^end to end +([0-9.]+) ms -> ([0-9.]+) ms: ([-+0-9.]+) % \(([-+0-9.?]+) to ([-+0-9.?]+) %\), [0-9.]+x; (.*?), (\d+) threads?$", re.M)  # fmt: skip
UNCHANGED = re.compile(r"^end to end +unchanged", re.M)


def end_to_end(text):
    """The line "end to end" of a closing summary as a dict, or None where nothing was measured. Times in us; ratio = after / before, from paired
    runs, with its interval (nan: too few). An unchanged graph has the ratio 1 and no times (nan)."""
    found = END_TO_END.search(text)
    if not found:
        none = {"before_us": math.nan, "after_us": math.nan, "ratio": 1.0, "ratio_low": 1.0, "ratio_high": 1.0, "runtime": "", "threads": 0}
        return none if UNCHANGED.search(text) else None
    ratio, low, high = (math.nan if "?" in x else 1 + float(x) / 100 for x in found.groups()[2:5])
    return {"before_us": float(found[1]) * 1e3, "after_us": float(found[2]) * 1e3, "ratio": ratio, "ratio_low": low, "ratio_high": high,
            "runtime": found[6], "threads": int(found[7])}  # fmt: skip


def measured_in(folder):
    """What a run or search measured at its end (summary.txt), or a later measurement of its graph by itself (latency.txt, of results/record.py); None where neither did."""
    for name in ("latency.txt", "summary.txt"):
        if (path := Path(folder) / name).is_file():
            return end_to_end(path.read_text(encoding="utf-8", errors="replace"))
    return None


def read_trace(path):
    """Rewrites of a .trace file: a data frame with step, rule, location, cost_us; its attrs have the header (graph, ...)."""
    rows, header = [], {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if line.startswith("#"):
            continue
        if len(cells) == 4:
            rows.append((int(cells[0]), cells[1], int(cells[2]), float(cells[3])))
        elif " " in line:
            key, value = line.split(" ", 1)
            header[key] = value
    frame = pd.DataFrame(rows, columns=["step", "rule", "location", "cost_us"])
    frame.attrs.update(header)
    return frame


# Names of options in the folders of earlier runs, and what they are called now (core/options/options.cc has the same list).
OLD_NAMES = {
    "encoder": "wm.encoder",
    "encoder-from": "wm.encoder-from",
    "reward-model": "wm.reward-model",
    "wm-data": "wm.data",
    "wm-store": "wm.store",
    "temperature": "dream.temperature",
    "dream-start": "dream.start",
    "dream-actors": "dream.actors",
    "dream-penalty": "dream.penalty",
    "costs": "cost.table",
    "outcome.polish": "train.polish",
    "outcome.repeats": "check.repeats",
    "outcome.seeds": "check.seeds",
    "outcome.tolerance": "check.tolerance",
}


def geometric_mean(values):
    """Of one value exactly that."""
    values = list(values)
    return float(values[0]) if len(values) == 1 else float(np.exp(np.mean(np.log(values))))


class Run:
    """A run folder. What a run that continues, or was killed, has not written yet is empty or None."""

    def __init__(self, path):
        self.path = Path(path)
        self.name = self.path.resolve().name
        self.problems = []
        if not (self.path / "config.cfg").is_file():
            raise FileNotFoundError(f"{path}: no run folder (no config.cfg in it)")

    @cached_property
    def config(self):
        """All options, {name: text}, names with their group in front."""
        options, group = {}, ""
        for line in self._text("config.cfg").splitlines():
            line = line.strip()
            if line.startswith("["):
                group = line.strip("[]") + "."
            elif line and not line.startswith("#") and "=" in line:
                key, value = line.split("=", 1)
                name = group + key.strip()
                options[OLD_NAMES.get(name, name)] = value.strip()
        return options

    @property
    def graph(self):
        return Path(self.config.get("graph", "")).stem

    @property
    def agent(self):
        return self.config.get("agent", "")

    @property
    def seed(self):
        return int(self.config.get("seed", 0))

    @cached_property
    def revision(self):
        """Of the rlgo that made the run."""
        found = re.search(r"^# .*\(([0-9a-f]{7,}[^)]*)\)", self._text("config.cfg"), re.M)
        return found[1] if found else ""

    @cached_property
    def metrics(self):
        """metrics.csv, numbers throughout. A last line that is cut off (the run continues, or was killed) is left out; means over the
        episodes of an epoch that had none are empty, where the file says 0."""
        text = self._text("metrics.csv")
        lines = text.split("\n")
        if lines and lines[-1]:
            if len(lines) > 1:
                self.problems.append(f"{self.path / 'metrics.csv'}: its last line is incomplete: left out")
            lines = lines[:-1]
        if not lines or not lines[0]:
            return pd.DataFrame({"epoch": pd.Series(dtype=float)})
        rows = list(csv.reader(lines))
        good = [row for row in rows[1:] if len(row) == len(rows[0])]
        if len(good) < len([row for row in rows[1:] if row]):
            self.problems.append(f"{self.path / 'metrics.csv'}: {len(rows) - 1 - len(good)} lines with another number of cells: left out")
        frame = pd.DataFrame([[float(cell) if cell else math.nan for cell in row] for row in good], columns=[RENAMED.get(name, name) for name in rows[0]])
        if "epoch_episodes" in frame:
            frame.loc[frame["epoch_episodes"] == 0, [name for name in frame if name.startswith("episode_")]] = math.nan
        return frame

    def column(self, name):
        """Of the metrics; all-empty where the run has no such column."""
        return self.metrics[name] if name in self.metrics else pd.Series(math.nan, index=self.metrics.index)

    @cached_property
    def initial_cost_us(self):
        """Cost of the unmodified graph (of several the geometric mean); NaN where the run has not said it yet."""
        for path in store.part_paths(self.path) if (self.path / "rollouts").is_dir() else []:
            try:
                with store.Part(path) as part:
                    episodes = part.episodes()
                    graphs = episodes["graph"] if "graph" in episodes else np.zeros(len(episodes))
                    return geometric_mean(episodes.groupby(graphs)["initial_cost_us"].first())
            except store.Damaged:
                continue
        found = re.findall(r"cost of the unmodified graph[^:]*: ([0-9.]+) ms", self._text("log.txt"))
        return geometric_mean([float(ms) * 1e3 for ms in found]) if found else math.nan

    @cached_property
    def summary(self):
        """Text of summary.txt; empty where the run has not ended."""
        return self._text("summary.txt")

    @property
    def end_to_end(self):
        return measured_in(self.path)

    @property
    def trace(self):
        path = self.path / "best.trace"
        return read_trace(path) if path.is_file() else None

    @property
    def state(self):
        if self.summary:
            return "ended"
        return "continuing, or killed" if len(self.metrics) else "nothing yet"

    def rollouts(self, steps=True):
        """See store.load; its problems are added to the run's."""
        found = store.load(self.path, steps)
        self.problems += [p for p in found.problems if p not in self.problems]
        return found

    def _text(self, name):
        path = self.path / name
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def find_runs(paths, agents=None, graphs=None):
    """Runs that paths mean: run folders, or folders of run folders; in the order of paths. `agents`, `graphs`: only these."""
    folders = []
    for path in map(Path, paths):
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file or folder")
        if (path / "config.cfg").is_file():
            folders.append(path)
        elif path.is_dir():
            folders += sorted(config.parent for config in path.glob("*/config.cfg"))
    seen = {}
    for folder in folders:
        seen.setdefault(folder.resolve(), Run(folder))
    runs = [run for run in seen.values() if (not agents or run.agent in agents) and (not graphs or run.graph in graphs)]
    if not runs:
        wanted = [*(f"agent {a}" for a in agents or []), *(f"graph {g}" for g in graphs or [])]
        raise FileNotFoundError(f"{', '.join(map(str, paths))}: no run folder{' of ' + ', '.join(wanted) if wanted else ''} in it")
    return runs


def differing_options(runs):
    """Options in which runs differ, other than their names and seeds."""
    names = dict.fromkeys(name for run in runs for name in run.config)
    return [name for name in names if name not in ("seed", "name", "runs", "resume") and len({run.config.get(name) for run in runs}) > 1]


def parse_csv(path):
    """A CSV file whose last line may still be being written."""
    text = Path(path).read_text(encoding="utf-8")
    return pd.read_csv(io.StringIO(text[: text.rfind("\n") + 1]))
