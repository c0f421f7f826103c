"""Learned prices in figures: how far they are off (results/prices.py), and what `rlgo optimise` gains by them in equal seconds (results/learned.py)."""
from . import tables
from .learned import by_run
from .means import mean_cell
from .recorded import revisions_of
from .tables import best_bold

FEW = 40  # groups of a kind below which it has no line of its own


def accuracy(rows):
    """Lines of a table for each device, a row for each kind of group."""
    lines = []
    for device in dict.fromkeys(row["device"] for row in rows):
        of = [row for row in rows if row["device"] == device]
        first = of[0]
        table = []
        for row in of:
            if row["kind"] == "all" or int(row["groups"]) >= FEW:
                pairs = (best_bold([two(row[of_what + "_formula"]), two(row[of_what])]) for of_what in ("factor", "weighted"))
                table.append([row["kind"], row["groups"], *(cell for pair in pairs for cell in pair)])
        columns = ["most expensive operator of the group", "groups", "off by a factor of, median: formula", "learned", "off by a fraction of the time: formula", "learned"]
        lines += [f"{device}; lower is better:", "", *tables.table(columns, table, keys=2)]
        elsewhere = f"Prices learned on {first['others']} are off by a factor of {two(first['factor_others'])}, by {two(first['weighted_others'])} of the time. " if first["others"] else ""
        lines += ["", f"Groups of models that the trees were not fitted to (folds by model), {first['models']} models; a factor for each model left free, as only proportions count. "
                  f"{elsewhere}{first['runtime']}, {first['machine']}; rlgo {revisions_of(of)}; data SHA-256 {first['sha256'][:16]}.", ""]  # fmt: skip
    return lines[:-1]


def two(number):
    """With two decimals; a dash where there is none."""
    return f"{float(number):.2f}" if number else "-"


def runs(rows):
    """{(model, seconds): {method: row}} where both were run."""
    return {(model, float(seconds)): both for model, seconds, both in by_run(rows, ("formula", "search"), "seconds")}


def ratios(found):
    """{(model, seconds): {method: latency to the original's}}."""
    return {key: {method: float(both[method]["ratio"]) for method in ("formula", "search")} for key, both in found.items()}


def gains(rows, seconds):
    """Latency with learned prices to that with the formula's, of each model."""
    return [x["search"] / x["formula"] for (_, s), x in ratios(runs(rows)).items() if s == seconds]


def summary(rows):
    """Lines, one for each number of seconds, over all models."""
    found = runs(rows)
    ratio = ratios(found)
    lines = []
    for s in sorted({seconds for _, seconds in found}):
        of = [(x["search"] / x["formula"], float(found[key]["search"]["noise"])) for key, x in ratio.items() if key[1] == s]
        means = [mean_cell([x[method] for key, x in ratio.items() if key[1] == s]) for method in ("formula", "search")]
        better, worse = (sum(sign * (r - 1) > max(noise, 0.01) for r, noise in of) for sign in (-1, 1))
        lines.append(f"- {s:g} s, {len(of)} models: {means[0]} by formula, {means[1]} by learned prices: {mean_cell([r for r, _ in of])} of it; better by more than 1 % and A/A on {better}, worse on {worse}.")
    return lines


def elsewhere(rows, with_others):
    """Lines of a table: the same with trees of another processor (`with_others`, rows of method search)."""
    ratio = ratios(runs(rows))
    others = {(row["model"], float(row["seconds"])): float(row["ratio"]) for row in with_others}
    both = {key: (ratio[key]["formula"], x, ratio[key]["search"]) for key, x in others.items() if key in ratio}
    times = sorted({s for _, s in both})
    columns = ["model", *(f"{s:g} s: {prices}" for s in times for prices in ("formula", "prices of the other processor", "of its own"))]
    table = [[model, *(cell for s in times for cell in (best_bold([f"{x:.3f}" for x in both[model, s]]) if (model, s) in both else "---"))] for model in dict.fromkeys(model for model, _ in both)]
    means = "; ".join(f"{s:g} s: {mean_cell([own / other for key, (_, other, own) in both.items() if key[1] == s])}" for s in times)
    return [*tables.table(columns, table, widths=[3] * len(times)), "", f"Lower is better, the best for each time is bold. Own to the other's, geometric means and 95 % intervals over models: {means}. rlgo {revisions_of(with_others)}."]


def in_equal_seconds(rows):
    """Lines of a table: latency of what is written without and with learned prices, to the original's; models that neither changes are counted alone."""
    found = runs(rows)
    if not found:
        return ["Nothing is recorded."]
    times = sorted({seconds for _, seconds in found})
    ratio = ratios(found)
    table = []
    unchanged = 0
    for model in dict.fromkeys(model for model, _ in found):
        of = [ratio.get((model, s)) for s in times]
        if all(x is None or x["formula"] == x["search"] == 1 for x in of):
            unchanged += 1
            continue
        noise = max(float(found[key]["search"]["noise"]) for key in found if key[0] == model)
        cells = [", ".join(best_bold([f"{x['formula']:.3f}", f"{x['search']:.3f}"])) if x else "-" for x in of]
        table.append([model, *cells, f"{noise:.3f}"])
    machines = sorted({row["machine"] for row in rows})
    columns = ["model", *(f"{s:g} s: formula, learned prices" for s in times), "A/A"]
    return [*tables.table(columns, table), "", *summary(rows), "", f"Lower is better, the better of two is bold. {unchanged} of the models stay as they are either way, count as 1, and have no line. rlgo {revisions_of(rows)}; {', '.join(machines)}."]
