"""What dreams promise and reality pays (results/dream-promises.csv, made of rlgo evaluate --world-model), as tables."""
import statistics

from . import tables

STEPS = "10"  # of a dream that training learns from
ALLOWED = 0.2  # of the real return, or of 1 % of the initial cost where that is more: how far a dream may be off
FORMS = ["before", "after"]
# What turns each repair of the published form off (docs/world-model.md), by itself.
REPAIRS = {"nothing": [], "locations": ["--wm.locations", "false"], "locations+counts": ["--wm.locations", "false", "--wm.counts", "log"], "rewards": ["--wm.reward-scale", "linear"], "play": ["--wm.play-noop", "true"],
           "trunks": ["--wm.own-trunks", "false"], "starts": ["--dream.start", "initial"], "length": ["--dream.length", 0], "guard": ["--dream.guard", 0],
           "evaluations": ["--wm.on-policy", "false"], "share": ["--wm.random-fraction", 0.25, "--evaluate.every", 4]}  # fmt: skip


def runs_of(rows, clip, steps=STEPS):
    """{(graph, form): rows of each seed} at a horizon. Runs are named FORM-GRAPH or FORM-GRAPH-sSEED."""
    of = {}
    for row in rows:
        if row["steps"] == steps and row["clip"] == clip:
            of.setdefault((row["graph"], row["run"].partition("-")[0]), []).append(row)
    return of


def honest(row):
    """Whether a dream's return is near enough to the real one."""
    real, dreamed = float(row["real_return_percent"]), float(row["dream_return_percent"])
    return abs(dreamed - real) <= ALLOWED * max(abs(real), 1.0)


def mean_of(rows, name, digits):
    values = [float(row[name]) for row in rows]
    if not values:
        return "not recorded"
    each = f" ({', '.join(f'{v:.{digits}f}' for v in values)})" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.{digits}f}{each}"


RETURNS = ("real_return_percent", "dream_return_percent")
TEN = ["reward correlation, one step", "counts exact, 1 step", "counts exact, 10 steps", "real return, %", "dreamed, no clip, %", "dreamed, both clips, %"]
WHOLE = ["whole episode: real, %", "dreamed, %"]


class Measured:
    """What rows say of the runs of a (graph, form), as cells for the columns TEN and WHOLE."""

    def __init__(self, rows):
        self.none, self.both, self.whole = runs_of(rows, "none"), runs_of(rows, "both"), runs_of(rows, "as trained", "episode")

    def ten_steps(self, key):
        rows = self.none[key]
        return [*(mean_of(rows, name, 3) for name in ("reward_correlation", "counts_exact_1", "counts_exact")), *(mean_of(rows, name, 2) for name in RETURNS),
                mean_of(self.both.get(key, []), RETURNS[1], 2)]  # fmt: skip

    def episode(self, key):
        return [mean_of(self.whole.get(key, []), name, 2) for name in RETURNS]


EARLIER = "earlier_without_"  # recorded before a model learned from evaluations


def repairs(rows, form="without_"):
    """Runs that lack one repair each."""
    reported = Measured(rows)
    lines = []
    for graph in sorted({g for g, name in reported.none if name.startswith(form)}):
        for name in REPAIRS:
            if (key := (graph, form + name)) in reported.none:
                lines.append([graph, name, *reported.ten_steps(key), ", ".join(reported.episode(key))])
    table = tables.table(["graph", "without", *TEN, "whole episode, %: real, dreamed"], lines, keys=2, widths=(3, 4))
    return [*table, "", "Higher is better for the correlation and the counts; a dreamed return is better the nearer it is to the real one."]


def transfer(rows):
    """World models on graphs that they were not trained on, and on their own (results/sample_efficiency.py transfer)."""
    columns = {"reward_correlation": 3, "counts_exact_1": 3, "counts_exact_10": 3, "real_return_10": 2, "dream_return_10": 2}
    lines = ["| trained on | played on | reward correlation, one step | counts exact, 1 step | counts exact, 10 steps | return, %: real, dreamed with both clips |", "|---|---|" + "---|" * 4]
    for row in rows:
        own = row["run"].partition("-")[0]
        cells = [f"{float(row[name]):.{digits}f}" for name, digits in columns.items()]
        lines.append(f"| {own} | {'itself' if own == row['graph'] else row['graph']} | {' | '.join(cells[:-2])} | {', '.join(cells[-2:])} |")
    return [*lines, "", "Higher is better for the correlation and the counts."]


def table(rows):
    """A line of each graph and form: one step and ten on the model's own predictions; means over seeds, and each seed."""
    reported = Measured(rows)
    lines = []
    met = {"correlation": [], "counts": [], "near": []}
    for graph in sorted({g for g, _ in reported.none}):
        for form in FORMS:
            seeds = reported.none.get((graph, form), [])
            if not seeds:
                continue
            near = [honest(row) for row in seeds]
            if form == "after":
                met["correlation"].append(min(float(r["reward_correlation"]) for r in seeds) >= 0.95)
                met["counts"].append(statistics.fmean(float(r["counts_exact"]) for r in seeds) >= 0.95)
                met["near"].append(all(near))
            key = (graph, form)
            lines.append([graph, form, *reported.ten_steps(key), f"{sum(near)} of {len(near)}", *reported.episode(key)])
    aims = [f"correlation at least 0.95 with every seed: {sum(met['correlation'])} of {len(met['correlation'])} graphs", f"counts exact in 95 % after ten steps: {sum(met['counts'])}",
            f"dreams near enough with every seed: {sum(met['near'])}"]  # fmt: skip
    return [*tables.table(["graph", "form", *TEN, "near enough", *WHOLE], lines, keys=2, widths=(3, 4, 2)), "", "Higher is better for the correlation and the counts; a dreamed return is better the nearer it is to the real one. Aims, on today's form: " + "; ".join(aims) + "."]
