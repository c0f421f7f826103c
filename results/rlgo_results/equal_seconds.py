"""What training an agent and plain searches find in equal seconds (results/equal_seconds.py), as tables."""
import statistics

from rlgo_results import tables
from rlgo_results.means import mean_cell
from rlgo_results.recorded import revisions_of
from rlgo_results.tables import best_bold

STARTS = "its searches"  # the best of those that the agent began from, which draw alike in all seeds
UNTRAINED = "untrained"  # the agent without learning
SEARCHES = ["taso", "anneal", "window", "portfolio"]
OTHERS = [STARTS, UNTRAINED, *SEARCHES]
SAME = 1.001  # times a cost: as cheap


def costs(rows):
    """{(profile, graph): {method: costs of each seed}}, and the costs of the unmodified graphs and of the best that was known before; where none was, of the best of
    these rows."""
    found, before, known = {}, {}, {}
    for row in rows:
        key = row["profile"], row["graph"]
        found.setdefault(key, {}).setdefault(row["method"], []).append(float(row["after_us"]))
        if row["method"] == "agent" and row["starts_us"]:
            found[key][STARTS] = [float(row["starts_us"])]
        before[key] = float(row["before_us"])
        if row["known_us"]:
            known[key] = float(row["known_us"])
    for key in found.keys() - known.keys():
        known[key] = min(us for method in found[key].values() for us in method)
    return found, before, known


def compared(rows, profile, method):
    """(the cheapest known of any method, these rows included; the agent's cost; the method's) of each graph that both have; geometric means over seeds."""
    found, _, known = costs(rows)
    return [(min(known[key], *(us for costs_us in of.values() for us in costs_us)), statistics.geometric_mean(of["agent"]), statistics.geometric_mean(of[method]))
            for key, of in sorted(found.items()) if key[0] == profile and "agent" in of and method in of]  # fmt: skip


def ratios(rows, profile, method):
    """The agent's cost to a method's on each graph that both have."""
    return [agent / other for _, agent, other in compared(rows, profile, method)]


def room(rows, profile, method):
    """The cheapest graph known of any method to a method's, of the same graphs: what was left to gain on it."""
    return [cheapest / other for cheapest, _, other in compared(rows, profile, method)]


def made_on(rows):
    """The machine, or each machine with what ran on it: seconds of different processors are not equal."""
    of = {}
    for row in rows:
        of.setdefault(row["machine"], {}).setdefault(row["profile"], {})[row["method"]] = None
    if len(of) == 1:
        return next(iter(of))
    return "; ".join(f"{machine} (" + ", ".join(f"{profile}: {' '.join(methods)}" for profile, methods in sorted(profiles.items())) + ")" for machine, profiles in of.items())


def summary(rows):
    """Lines of a table: the agent's cost to that of each search, and how near it comes to what was known; then what it counts."""
    found, _, known = costs(rows)
    lines = ["| profile | compared with | the agent's cost to that | lower on, as low, higher | the cheapest known to that | lower on |", "|---|---|---|---|---|---|"]
    reached = []
    for profile in sorted({key[0] for key in found}):
        keys = [key for key in found if key[0] == profile and "agent" in found[key]]
        near = [key for key in keys if statistics.median(found[key]["agent"]) <= SAME * known[key]]
        below = [key[1] for key in keys if min(found[key]["agent"]) < known[key] * (1 - 1e-6)]
        reached.append(f"{profile} {len(near)} of {len(keys)} graphs" + (f" (below it: {', '.join(below)})" if below else ""))
        for method in OTHERS:
            to = ratios(rows, profile, method)
            if len(to) > 1:
                lower, higher = sum(r < 1 / SAME for r in to), sum(r > SAME for r in to)
                name = method if method == STARTS else f"`{method}`"
                left = room(rows, profile, method)
                lines.append(f"| {profile} | {name} | {mean_cell(to)} | {lower}, {len(to) - lower - higher}, {higher} | {mean_cell(left)} | {sum(r < 1 / SAME for r in left)} |")
    return [*lines, "", f"Geometric means over graphs with 95 % intervals; lower is better. The agent's median is within 0.1 % of the cheapest graph known before, of any method: {'; '.join(reached)}."]


def table(rows):
    """Change of cost of each seed, percent."""
    found, before, known = costs(rows)
    searches = [m for m in OTHERS if any(m in methods for methods in found.values())]
    lines = []
    for key, methods in sorted(found.items()):
        percent = [", ".join(f"{100 * (us / before[key] - 1):.2f}" for us in all_us) for all_us in ([known[key]], *(methods.get(m, []) for m in ["agent", *searches]))]
        methods_of = ["agent", *searches]
        best = iter(best_bold([text for text, method in zip(percent[1:], methods_of) if method != STARTS]))
        lines.append([*key, percent[0], *(text if method == STARTS else next(best) for text, method in zip(percent[1:], methods_of))])
    seconds = sorted({row["seconds"] for row in rows})
    columns = ["profile", "graph", "best known before, or of all these", "agent, each seed", *searches]
    return [*tables.table(columns, lines, keys=2), "", f"Change of cost, percent; lower is better, the best method of a row is bold (of the agent its first seed counts); {', '.join(seconds)} s on one core of {made_on(rows)}; rlgo {revisions_of(rows)}."]
