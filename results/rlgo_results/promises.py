"""What dreams promise and reality pays (results/dream-promises.csv, made of rlgo evaluate --world-model), as tables."""
import statistics

STEPS = "10"  # of a dream that training learns from
ALLOWED = 0.2  # of the real return, or of 1 % of the initial cost where that is more: how far a dream may be off
FORMS = ["before", "after"]


def runs_of(rows, clip):
    """{(graph, form): rows of each seed} at the horizon of training. Runs are named FORM-GRAPH or FORM-GRAPH-sSEED."""
    of = {}
    for row in rows:
        if row["steps"] == STEPS and row["clip"] == clip:
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


def short(rows):
    """Dreamed and real returns without clips, means over seeds."""
    of = runs_of(rows, "none")
    lines = ["| graph | before: dreamed, % | real, % | today: dreamed, % | real, % |", "|---|---|---|---|---|"]
    for graph in sorted({g for g, _ in of}):
        cells = [mean_of(of.get((graph, form), []), name, 2) for form in FORMS for name in ("dream_return_percent", "real_return_percent")]
        lines.append(f"| {graph} | {' | '.join(cells)} |")
    return lines


def table(rows):
    """A line of each graph and form: one step and ten on the model's own predictions; means over seeds, and each seed."""
    none, both = runs_of(rows, "none"), runs_of(rows, "both")
    lines = ["| graph | form | reward correlation, one step | counts exact, 1 step | counts exact, 10 steps | real return, % | dreamed, no clip, % | dreamed, both clips, % | near enough |", "|---|---|" + "---|" * 7]
    met = {"correlation": [], "counts": [], "near": []}
    for graph in sorted({g for g, _ in none}):
        for form in FORMS:
            seeds = none.get((graph, form), [])
            if not seeds:
                continue
            near = [honest(row) for row in seeds]
            if form == "after":
                met["correlation"].append(min(float(r["reward_correlation"]) for r in seeds) >= 0.95)
                met["counts"].append(statistics.fmean(float(r["counts_exact"]) for r in seeds) >= 0.95)
                met["near"].append(all(near))
            cells = [mean_of(seeds, "reward_correlation", 3), mean_of(seeds, "counts_exact_1", 3), mean_of(seeds, "counts_exact", 3), mean_of(seeds, "real_return_percent", 2),
                     mean_of(seeds, "dream_return_percent", 2), mean_of(both.get((graph, form), []), "dream_return_percent", 2), f"{sum(near)} of {len(near)}"]  # fmt: skip
            lines.append(f"| {graph} | {form} | {' | '.join(cells)} |")
    told = [f"correlation at least 0.95 with every seed: {sum(met['correlation'])} of {len(met['correlation'])} graphs", f"counts exact in 95 % after ten steps: {sum(met['counts'])}",
            f"dreams near enough with every seed: {sum(met['near'])}"]  # fmt: skip
    return [*lines, "", "Aims, on today's form: " + "; ".join(told) + "."]
