"""`rlgo optimise --method learned` and `--method train` in figures: against the default search in equal seconds; `learned` against timing every graph (results/learned.py)."""
import statistics

from .means import mean_cell
from .recorded import revisions_of

NEAR = 1.01  # to the fastest graph that was timed: within what one measurement is uncertain by


def by_run(rows, methods):
    """[(model, seed, {method: row})] where all of `methods` are recorded."""
    found = {}
    for row in rows:
        found.setdefault((row["model"], row["seed"]), {})[row["method"]] = row
    return [(model, seed, both) for (model, seed), both in found.items() if set(methods) <= set(both)]


def told_by(rows):
    seconds, machines = (sorted({row[k] for row in rows}) for k in ("seconds", "machine"))
    return f"{', '.join(f'{float(s):g}' for s in seconds)} s for each method; rlgo {revisions_of(rows)}; {', '.join(machines)}."


OTHERS = ["learned", "train"]  # methods beside the default search


def in_equal_seconds(rows):
    """Lines of a table: latency of what each method wrote to the original's, and to what the default search wrote."""
    lines = ["| model | seed | search | learned | train | learned / search | train / search | A/A | graphs timed | fastest at | error of the sum -> learned, % |",
             "|---|" + "---|" * 10]  # fmt: skip
    pairs = {method: [] for method in OTHERS}
    for model, seed, found in by_run(rows, ("search",)):
        search, noise = float(found["search"]["ratio"]), float(found["search"]["noise"])
        ratio = {method: float(found[method]["ratio"]) for method in OTHERS if method in found}
        if not ratio:
            continue
        for method, x in ratio.items():
            pairs[method].append((x / search, noise))
        cells = [f"{ratio[method] / by:.3f}" if method in ratio else "-" for by in (1, search) for method in OTHERS]
        of = found.get("learned")
        errors = " -> ".join(f"{float(of[k]):.1f}" if of[k] else "-" for k in ("sum_error_percent", "residual_error_percent")) if of else "-"
        lines.append(f"| {model} | {seed} | {search:.3f} | {' | '.join(cells)} | {noise:.3f} | {of['timed'] if of else '-'} | "
                     f"{of['best_at'] or '-' if of else '-'} | {errors} |")  # fmt: skip
    if not any(pairs.values()):
        return [*lines, "", "Nothing is recorded."]
    lines.append("")
    for method, of in pairs.items():
        if of:
            faster, slower = (sum(sign * (ratio - 1) > noise for ratio, noise in of) for sign in (-1, 1))
            lines.append(f"- {method} / search, geometric mean: {mean_cell([ratio for ratio, _ in of])}; beyond what the original shows against itself (A/A) faster on {faster}, "
                         f"slower on {slower} of {len(of)}.")  # fmt: skip
    return [*lines, "", told_by(rows)]


def times(row):
    """Of the graphs that were timed, in this order, to the unmodified one's."""
    return [float(x) for x in row["times"].split()]


def reached(values, wanted):
    """How many were timed until one was no slower than `wanted`; None: none was."""
    return next((k for k, x in enumerate(values, 1) if x <= wanted), None)


def graphs_needed(rows):
    """Lines of a table: graphs timed until one was within 1 % of the fastest that the run which times all of them found."""
    lines = ["| model | seed | all: graphs timed | fastest | within 1 % after | learned: graphs timed | fastest | within 1 % of all's after | share of all's graphs |", "|---|" + "---|" * 8]
    shares, total = [], 0
    for model, seed, both in by_run(rows, ("all", "learned")):
        everything, learned = times(both["all"]), times(both["learned"])
        total += 1
        if not everything:
            lines.append(f"| {model} | {seed} | 0 | - | - | {len(learned)} | - | - | - |")
            continue
        wanted = NEAR * min(everything)
        count = reached(learned, wanted)
        shares += [count / len(everything)] if count else []
        lines.append(f"| {model} | {seed} | {len(everything)} | {min(everything):.3f} | {reached(everything, wanted)} | {len(learned)} | "
                     f"{f'{min(learned):.3f}' if learned else '-'} | {count or 'not reached'} | {f'{count / len(everything):.2f}' if count else '-'} |")  # fmt: skip
    if not total:
        return [*lines, "", "Nothing is recorded."]
    middle = f"; median share {statistics.median(shares):.2f}" if shares else ""
    return [*lines, "", f"Of {total} runs {len(shares)} reach it, {sum(s <= 0.2 for s in shares)} with at most a fifth of the graphs that the other timed{middle}. Times are those that the runs "
            f"took for their own choice: the fastest of many is lucky, more so where more were timed. {told_by(rows)}"]  # fmt: skip
