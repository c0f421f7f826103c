"""`rlgo optimise --method learned` and `--method train` in figures: against the default search in equal seconds; `learned` against timing every graph (results/learned.py)."""
import statistics

from . import tables
from .means import mean_cell
from .recorded import revisions_of
from .tables import best_bold

NEAR = 1.01  # to the fastest graph that was timed: within what one measurement is uncertain by


def by_run(rows, methods, what="seed"):
    """[(model, seed, {method: row})] where all of `methods` are recorded; `what`: a column in place of the seed."""
    found = {}
    for row in rows:
        found.setdefault((row["model"], row[what]), {})[row["method"]] = row
    return [(model, seed, both) for (model, seed), both in found.items() if set(methods) <= set(both)]


def made_by(rows):
    seconds, machines = (sorted({row[k] for row in rows}) for k in ("seconds", "machine"))
    return f"{', '.join(f'{float(s):g}' for s in seconds)} s for each method; rlgo {revisions_of(rows)}; {', '.join(machines)}."


OTHERS = ["learned", "train"]  # methods next to the default search


def in_equal_seconds(rows):
    """Lines of a table: latency of what each method wrote to the original's, and to what the default search wrote."""
    table, lines = [], []
    pairs = {method: [] for method in OTHERS}
    for model, seed, found in by_run(rows, ("search",)):
        search, noise = float(found["search"]["ratio"]), float(found["search"]["noise"])
        ratio = {method: float(found[method]["ratio"]) for method in OTHERS if method in found}
        if not ratio:
            continue
        for method, x in ratio.items():
            pairs[method].append((x / search, noise))
        cells = best_bold([f"{x:.3f}" if x else "-" for x in (search, *map(ratio.get, OTHERS))])
        of = found.get("learned")
        errors = " -> ".join(f"{float(of[k]):.1f}" if of[k] else "-" for k in ("sum_error_percent", "residual_error_percent")) if of else "-"
        table.append([model, seed, *cells, f"{noise:.3f}", of["timed"] if of else "-", of["best_at"] or "-" if of else "-", errors])
    if not any(pairs.values()):
        return ["Nothing is recorded."]
    for method, of in pairs.items():
        if of:
            faster, slower = (sum(sign * (ratio - 1) > noise for ratio, noise in of) for sign in (-1, 1))
            lines.append(f"- {method} / search, geometric mean: {mean_cell([ratio for ratio, _ in of])}; beyond what the original shows against itself (A/A) faster on {faster}, "
                         f"slower on {slower} of {len(of)}.")  # fmt: skip
    columns = ["model", "seed", "search", *OTHERS, "A/A", "graphs timed", "fastest at", "error of the sum -> learned, %"]
    return [*tables.table(columns, table, keys=2, widths=(4, 3)), "", *lines, "", f"Latency to the original's; lower is better, the best of a row is bold. {made_by(rows)}"]


def times(row):
    """Of the graphs that were timed, in this order, to the unmodified one's."""
    return [float(x) for x in row["times"].split()]


def reached(values, wanted):
    """How many were timed until one was no slower than `wanted`; None: none was."""
    return next((k for k, x in enumerate(values, 1) if x <= wanted), None)


def graphs_needed(rows):
    """Lines of a table, a row a model: graphs timed until one was within 1 % of the fastest that the run which times all of them found."""
    lines = ["| model | runs | graphs timed, medians: all, learned | fastest: learned's to all's | learned reaches all's within 1 % | with at most a fifth of all's graphs |", "|---|" + "---|" * 5]
    found = {}
    for model, _, both in by_run(rows, ("all", "learned")):
        found.setdefault(model, []).append([times(both[method]) for method in ("all", "learned")])
    if not found:
        return [*lines, "", "Nothing is recorded."]
    ratios, reaching = [], []
    for model, runs in found.items():
        timed = [statistics.median(len(values) for values in of) for of in zip(*runs)]
        runs = [(all_times, chosen) for all_times, chosen in runs if all_times and chosen]
        if not runs:
            lines.append(f"| {model} | - | {timed[0]:g}, {timed[1]:g} | - | - | - |")
            continue
        of = [min(chosen) / min(all_times) for all_times, chosen in runs]
        fractions = [count / len(all_times) for all_times, chosen in runs if (count := reached(chosen, NEAR * min(all_times)))]
        lines.append(f"| {model} | {len(runs)} | {timed[0]:g}, {timed[1]:g} | {mean_cell(of)} | {len(fractions)} | {sum(fraction <= 0.2 for fraction in fractions)} |")
        ratios += of
        reaching += fractions
    reported = f"fastest {mean_cell(ratios)}; " if ratios else ""
    return [*lines, "", f"Fewer graphs and lower ratios are better. All {len(ratios)} runs: {reported}{len(reaching)} reach it, {sum(fraction <= 0.2 for fraction in reaching)} with at most a fifth. Times are those "
            f"that the runs took for their own choice: the fastest of many is lucky, more so where more were timed. {made_by(rows)}"]  # fmt: skip
