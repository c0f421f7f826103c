"""`rlgo optimise --method learned` in figures: against the default search in equal seconds, and against timing every graph (results/learned.py)."""
import statistics

from .means import mean_cell

NEAR = 1.01  # to the fastest graph that was timed: within what one measurement is uncertain by


def by_run(rows, methods):
    """[(model, seed, {method: row})] where all of `methods` are recorded."""
    found = {}
    for row in rows:
        found.setdefault((row["model"], row["seed"]), {})[row["method"]] = row
    return [(model, seed, both) for (model, seed), both in found.items() if set(methods) <= set(both)]


def told_by(rows):
    seconds, commits, machines = (sorted({row[k] for row in rows}) for k in ("seconds", "commit", "machine"))
    return f"{', '.join(f'{float(s):g}' for s in seconds)} s for each method; rlgo {', '.join(commits)}; {', '.join(machines)}."


def in_equal_seconds(rows):
    """Lines of a table: latency of what both wrote to the original's."""
    lines = ["| model | seed | search | learned | learned / search | A/A | graphs timed | fastest at | error of the sum -> learned, % |", "|---|" + "---|" * 8]
    pairs = []
    for model, seed, both in by_run(rows, ("search", "learned")):
        of = both["learned"]
        search, learned, noise = float(both["search"]["ratio"]), float(of["ratio"]), float(of["noise"])
        pairs.append((learned / search, noise))
        errors = " -> ".join(f"{float(of[k]):.1f}" if of[k] else "-" for k in ("sum_error_percent", "residual_error_percent"))
        lines.append(f"| {model} | {seed} | {search:.3f} | {learned:.3f} | {learned / search:.3f} | {noise:.3f} | {of['timed']} | {of['best_at'] or '-'} | {errors} |")
    if not pairs:
        return [*lines, "", "Nothing is recorded."]
    faster, slower = (sum(sign * (ratio - 1) > noise for ratio, noise in pairs) for sign in (-1, 1))
    return [*lines, "", f"learned / search, geometric mean: {mean_cell([ratio for ratio, _ in pairs])}; beyond what the original shows against itself (A/A) faster on {faster}, "
            f"slower on {slower} of {len(pairs)}. {told_by(rows)}"]  # fmt: skip


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
