"""Best cost against real steps (results/sample_efficiency.py): what runs found within some budgets, as rows of a table, and as a page shows them."""
import bisect
import csv
import json
import math
import statistics

from . import tables
from .recorded import revisions_of
from .tables import best_bold
from .student import half_width

AGENTS = ["random", "untrained", "model-based", "model-free"]  # untrained: the heat bath over exact changes of cost that both others begin as
REFERENCE = "model-free"
LONGER = 4  # times the budget: what the reference plays
FIELDS = ["graph", "agent", "seed", "steps", "best_percent", "revision"]
TOLERANCE = 0.01  # percent of the initial cost: costs closer than that are the same


def curve(run):
    """(real steps, best change so far in percent of the initial cost), in order; best changes only fall."""
    initial = json.loads((run / "result.json").read_text(encoding="utf-8"))["cost"]["before_us"]
    with open(run / "metrics.csv", newline="", encoding="utf-8") as file:
        return [(int(row["steps"]), 100 * (float(row["best_cost_us"]) / initial - 1)) for row in csv.DictReader(file)]


def best_at(points, steps):
    """Best change with at most so many real steps; 0, the unmodified graph, before the first record."""
    at = bisect.bisect_right([p[0] for p in points], steps)
    return points[at - 1][1] if at > 0 else 0.0


def rows_of(folder, budget):
    """FIELDS of the runs GRAPH-AGENT-sSEED in a folder: the best change within a fifth, half and all of the budget, and of the reference within LONGER budgets too."""
    rows = []
    for result in sorted(folder.glob("*-s*/result.json")):
        head, _, seed = result.parent.name.rpartition("-s")
        for agent in AGENTS:
            if head.endswith("-" + agent):
                points, revision = curve(result.parent), json.loads(result.read_text(encoding="utf-8")).get("rlgo", {}).get("revision", "")
                for steps in [budget // 5, budget // 2, budget, *([LONGER * budget] if agent == REFERENCE else [])]:
                    rows.append({"graph": head[: -len(agent) - 1], "agent": agent, "seed": int(seed), "steps": steps, "best_percent": f"{best_at(points, steps):.4f}", "revision": revision})
    return rows


def typed(row):
    """A row of a CSV file as rows_of gives it."""
    return {**row, "seed": int(row["seed"]), "steps": int(row["steps"])}


def order(row):
    return row["graph"], row["agent"], row["seed"], row["steps"]


def found(rows):
    """{(graph, agent, steps): best change of each seed}"""
    of = {}
    for row in rows:
        of.setdefault((row["graph"], row["agent"], int(row["steps"])), []).append(float(row["best_percent"]))
    return of


def budget_of(rows):
    return max(int(row["steps"]) for row in rows if row["agent"] != REFERENCE)


def gaps(rows):
    """{graph: mean change of model-based at the budget less the reference's at LONGER budgets, points}, of graphs that have both; at most 0: it is as good."""
    of, budget = found(rows), budget_of(rows)
    pairs = {graph: (of.get((graph, "model-based", budget)), of.get((graph, REFERENCE, LONGER * budget))) for graph in dict.fromkeys(row["graph"] for row in rows)}
    return {graph: statistics.fmean(based) - statistics.fmean(large) for graph, (based, large) in pairs.items() if based and large}


def table(rows):
    """A line of each graph: the agents at the budget, the reference at LONGER budgets; then on how many graphs the small budget suffices, and where chance is better."""
    of, budget, behind = found(rows), budget_of(rows), gaps(rows)
    cells = lambda values: "not recorded" if not values else f"{values[0]:.2f}" if len(values) == 1 else f"{statistics.fmean(values):.2f} +- {half_width(values):.2f}"
    shown = [("random", budget), ("untrained", budget), ("model-based", budget // 2), ("model-based", budget), (REFERENCE, budget), (REFERENCE, LONGER * budget)]
    columns = ["graph", f"seeds (of model-based, of {REFERENCE})", *(f"{agent}, {steps:,}" for agent, steps in shown), "model-based above that, points", "reaches it"]
    lines = []
    worse = []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        chance, _, based, free = (of.get((graph, agent, budget), []) for agent in AGENTS)
        if based and chance and statistics.fmean(based) > statistics.fmean(chance) + TOLERANCE:
            worse.append(graph)
        verdict = "not recorded" if graph not in behind else "yes" if behind[graph] <= TOLERANCE else "no"
        large = of.get((graph, REFERENCE, LONGER * budget), [])
        above = "-" if graph not in behind else f"{behind[graph]:+.2f} +- {math.hypot(half_width(based), half_width(large)):.2f}"
        seeds = f"{len(based)}" if len(based) == len(free) else f"{len(based)}, {len(free)}"
        means = [cells(of.get((graph, *column), [])) for column in shown]
        equal = iter(best_bold([text for text, (_, steps) in zip(means, shown) if steps == budget]))
        lines.append([graph, seeds, *(next(equal) if steps == budget else text for text, (_, steps) in zip(means, shown)), above, verdict])
    revisions = revisions_of(rows)
    return [*tables.table(columns, lines, widths=(5, 4)), "", f"Best change of cost by formula in percent; lower is better, the best at {budget:,} steps is bold. Mean +- half of the 95 % t-interval over seeds, within so many real steps{f'; rlgo {revisions}' if revisions else ''}. Model-based reaches with "
            f"{budget:,} real steps what {REFERENCE} reaches with {LONGER * budget:,} on {sum(gap <= TOLERANCE for gap in behind.values())} of {len(behind)} graphs; at equal steps random play is better on "
            f"{', '.join(worse) or 'none'}."]  # fmt: skip
