"""What is recorded in results/, read for the pages: rows of CSV files, numbers of Markdown tables, revisions."""
import csv
import re
from pathlib import Path

from . import halves
from .columns import renamed
from .means import geometric_mean, interval


class Missing(Exception):
    """What a page shows is not recorded."""


class Found(dict):
    def __missing__(self, key):
        raise Missing(key)


def rows_in(path):
    """Of a file of CSV; none where there is no file."""
    if not Path(path).is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return [renamed(row) for row in csv.DictReader(file)]


def revisions_of(rows):
    """Of the rlgo that made these rows (column revision or commit), short: "0d38dbf, 27c076b"."""
    return ", ".join(sorted({text[:7] for row in rows if (text := row.get("revision") or row.get("commit"))}))


class Recorded:
    """Files below a folder results/. Rows are dictionaries of text; Missing where a file, or what is looked for, is not there."""

    def __init__(self, root):
        self.root = Path(root)

    def rows(self, name, delimiter=","):
        path = self.root / "results" / name
        if not path.is_file():
            raise Missing(path)
        with open(path, newline="", encoding="utf-8") as file:
            return [renamed(row) for row in csv.DictReader(file, delimiter=delimiter)]

    def text(self, name):
        return (self.root / "results" / name).read_text(encoding="utf-8")

    def figures_revision(self, folder="figures"):
        """Of the rlgo whose runs made the figures of a folder."""
        return ", ".join(r[:7] for r in re.search(r"rlgo ([0-9a-f, ]+), analysis", self.text(f"{folder}/README.md")).group(1).split(", "))

    def peers(self, half=None, raced_by=None):
        """(group, peer, threads) -> ratios to the original, 1 where the peer leaves a model as it is; and the peer that is rlgo's default.
        Only models of a half of the corpus, or that a further peer raced on with as many threads, where these are given."""
        rows, found = self.rows("peers/peers.csv"), Found()
        raced = {(row["model"], row["threads"]) for row in rows if row["peer"] == raced_by and row["ratio"]}
        for row in rows:
            if (half and halves.half(row["group"], row["model"]) != half) or (raced_by and (row["model"], row["threads"]) not in raced):
                continue
            ratio = 1.0 if row["unchanged"] in ("1", "1.0") else float(row["ratio"]) if row["ratio"] else None
            if row["peer"] != "original" and ratio is not None:
                found.setdefault((row["group"], row["peer"], int(row["threads"])), []).append(ratio)
        return found, "rlgo" if any(peer == "rlgo" for _, peer, _ in found) else "rlgo-taso"

    def peers_revision(self, peer, threads, half=None):
        """Of the rlgo whose lines `peer` are, of one half of the corpus where that is given."""
        rows = [r for r in self.rows("peers/peers.csv") if r["peer"] == peer and int(r["threads"]) == threads]
        return revisions_of(r for r in rows if half in (None, halves.half(r["group"], r["model"])))

    def searches(self):
        """(profile, graph, method) -> rows, one a seed."""
        found = Found()
        for row in self.rows("searches.csv"):
            found.setdefault((row["profile"], row["graph"], row["method"]), []).append(row)
        return found

    def runtimes(self, runtime, system):
        """graph -> row of figure 5.4 measured by a runtime ("LibTorch" or "race", which is ONNX Runtime)."""
        return Found({r["graph"]: r for r in self.rows("figures/fig-5.4-model-based.csv") if r["measured by"].startswith(runtime) and r["system"] == system})

    def best(self, agent, table="figures/summary"):
        """graph -> cheapest graph that each run of an agent met, percent of the unmodified one's cost."""
        found = Found()
        for row in self.rows(f"{table}.csv"):
            if row["agent"] == agent:
                found.setdefault(row["graph"], []).append(float(row["best, %"]))
        return found

    def search_traces(self, method):
        return Found({r["graph"]: r for r in self.rows("figures/search-trace.csv") if r["method"] == method})


def mean(values):
    if not values:
        raise Missing("runs")
    return sum(values) / len(values)


def percent(value, digits=2):
    return f"{value:+.{digits}f} %"


def from_to(numbers):
    """The least and the largest: "5" where they are the same, "3 to 5"."""
    return " to ".join(map(str, sorted({min(numbers), max(numbers)})))


def change_of(ratios):
    """(geometric mean, low, high) of ratios, each as a change in percent."""
    if not ratios:
        raise Missing("ratios")
    low, high = interval(ratios)
    return tuple(100 * (v - 1) for v in (geometric_mean(ratios), low, high))
