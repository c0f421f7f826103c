"""Agents rewarded by the latency of whole models in figures (results/latency.py)."""
import statistics

from .means import mean_cell
from .recorded import revisions_of
from .tables import best_bold, best_bold_of_columns

METHODS = ["latency", "model-free", "random", "search"]


def finals(rows):
    """Lines of a table: latency of each method's best graph to the unmodified model's, medians over seeds."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    lines = ["| model | " + " | ".join(METHODS) + " | graphs timed: latency, model-free, random |", "|---|" + "---|" * (len(METHODS) + 1)]
    against = {method: [] for method in METHODS[1:]}
    for model in models:
        of = {method: [row for row in rows if row["model"] == model and row["method"] == method] for method in METHODS}
        if not all(of.values()):
            continue
        ratio = {method: statistics.median(float(row["ratio"]) for row in found) for method, found in of.items()}
        timed = ", ".join(f"{statistics.median(int(row['timings']) for row in of[method]):.0f}" for method in METHODS[:3])
        lines.append(f"| {model} | {' | '.join(best_bold([f'{ratio[method]:.3f}' for method in METHODS]))} | {timed} |")
        for method, found in against.items():
            found.append(ratio["latency"] / ratio[method])
    if not any(against.values()):
        return [*lines, "", "Nothing is recorded."]
    lines.append("")
    lines += [f"- latency / {method}, geometric mean over {len(found)} models: {mean_cell(found)}." for method, found in against.items()]
    failed, timed = (sum(int(row[name]) for row in rows) for name in ("failed", "timings"))
    seconds, machines = (sorted({row[name] for row in rows}) for name in ("seconds", "machine"))
    wall = ", ".join(f"{method} {statistics.median(float(row['wall_s']) for row in rows if row['method'] == method):.0f}" for method in METHODS)
    return [*lines, "", f"Median seconds of whole runs, with start, checks and the last measurement: {wall}.", "", f"Medians over {len({row['seed'] for row in rows})} seeds; lower is better, the best of a row is bold. {', '.join(f'{float(s):g}' for s in seconds)} s a run; {failed} of {timed} timings failed; "
            f"rlgo {revisions_of(rows)}; {', '.join(machines)}."]  # fmt: skip


def curves(rows):
    """Lines of a table: the best latency, and graphs timed, after parts of the time."""
    ends = sorted({float(row["seconds"]) for row in rows})
    shown = [ends[k] for k in (0, 1, len(ends) // 2 - 1, len(ends) - 1)] if len(ends) >= 4 else ends
    lines = ["| model | method | " + " | ".join(f"{s:g} s" for s in shown) + " |", "|---|---|" + "---|" * len(shown)]
    table = {}
    for model, method in dict.fromkeys((row["model"], row["method"]) for row in rows):
        table.setdefault(model, []).append([method])
        for s in shown:
            at = [row for row in rows if (row["model"], row["method"]) == (model, method) and float(row["seconds"]) == s]
            table[model][-1].append(f"{statistics.median(float(row['best_latency']) for row in at):.3f} ({statistics.median(int(row['timings']) for row in at):.0f})")
    lines += [f"| {model} | {' | '.join(cells)} |" for model, of in table.items() for cells in best_bold_of_columns(of, 1)]
    return [*lines, "", "Upper end of the interval of the best graph's latency, as known then, and in brackets the timings so far; medians over seeds; lower is better, the best of a model after each time is bold."]
