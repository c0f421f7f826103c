"""Learned prices in figures: how far they are off (results/prices.py), and what `rlgo optimise` gains by them in equal seconds (results/learned.py)."""
from .learned import by_run
from .means import mean_cell
from .recorded import revisions_of

FEW = 40  # groups of a kind below which it has no line of its own


def accuracy(rows):
    """Lines of a table for each device, a row for each kind of group."""
    lines = []
    for device in dict.fromkeys(row["device"] for row in rows):
        of = [row for row in rows if row["device"] == device]
        first = of[0]
        lines += [f"{device}:", "", "| most expensive operator of the group | groups | off by a factor of, median: formula | learned | learned elsewhere | off by a share of the time: formula | learned | learned elsewhere |",
                  "|---|" + "---|" * 7]  # fmt: skip
        for row in of:
            if row["kind"] == "all" or int(row["groups"]) >= FEW:
                cells = (f"{two(row[of_what + '_formula'])} | **{two(row[of_what])}** | {two(row[of_what + '_others'])}" for of_what in ("factor", "weighted"))
                lines.append(f"| {row['kind']} | {row['groups']} | {' | '.join(cells)} |")
        elsewhere = f"Elsewhere: {first['others']}. " if first["others"] else ""
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
    lines = ["| model | " + " | ".join(f"{s:g} s: formula | prices of the other processor | of its own" for s in times) + " |", "|---|" + "---|---|---|" * len(times)]
    for model in dict.fromkeys(model for model, _ in both):
        lines.append(f"| {model} | " + " | ".join(" | ".join(f"{x:.3f}" for x in both[model, s]) if (model, s) in both else "- | - | -" for s in times) + " |")
    means = "; ".join(f"{s:g} s: {mean_cell([own / other for key, (_, other, own) in both.items() if key[1] == s])}" for s in times)
    return [*lines, "", f"Own to the other's, geometric means and 95 % intervals over models: {means}. rlgo {revisions_of(with_others)}."]


def in_equal_seconds(rows):
    """Lines of a table: latency of what is written without and with learned prices, to the original's; models that neither changes are counted alone."""
    found = runs(rows)
    if not found:
        return ["Nothing is recorded."]
    times = sorted({seconds for _, seconds in found})
    ratio = ratios(found)
    lines = ["| model | " + " | ".join(f"{s:g} s: formula | learned prices" for s in times) + " | A/A |", "|---|" + "---|---|" * len(times) + "---|"]
    unchanged = 0
    for model in dict.fromkeys(model for model, _ in found):
        of = [ratio.get((model, s)) for s in times]
        if all(x is None or x["formula"] == x["search"] == 1 for x in of):
            unchanged += 1
            continue
        noise = max(float(found[key]["search"]["noise"]) for key in found if key[0] == model)
        cells = [f"{x['formula']:.3f} | {x['search']:.3f}" if x else "- | -" for x in of]
        lines.append(f"| {model} | {' | '.join(cells)} | {noise:.3f} |")
    machines = sorted({row["machine"] for row in rows})
    return [*lines, "", *summary(rows), "", f"{unchanged} of the models stay as they are either way, count as 1, and have no line. rlgo {revisions_of(rows)}; {', '.join(machines)}."]
