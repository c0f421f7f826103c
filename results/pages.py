#!/usr/bin/env python3
"""Tables of the pages that state what is recorded, made from the files in results/: nobody keeps a number twice.

    results/pages.py            writes them again
    results/pages.py --check    says which differ from what is recorded (exit status 1)

A table stands between <!-- made by results/pages.py: NAME --> and <!-- end -->. --root FOLDER: another checkout.
"""
import argparse
import collections
import math
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "results"))
from rlgo_results import claims, efficiency, equal_seconds, kernels, latencies, learned, learned_prices, oracles, promises, swaps, tables  # noqa: E402
from rlgo_results.means import geometric_mean, mean_cell  # noqa: E402
from rlgo_results.recorded import Missing, Recorded, change_of, from_to, mean, percent, revisions_of  # noqa: E402
from rlgo_results.tables import best_bold, best_bold_of_columns  # noqa: E402

GROUPS = {"pypi": "shipped in PyPI packages", "more": "in ten more of them", "light": "of ONNX's light models", "torch": "PyTorch exports"}  # which other tools raced on, too
FAMILIES = {"mobile": "mobile", "reparameterised": "re-parameterised", "grouped": "grouped", "large-kernel": "large-kernel", "hybrid": "hybrid", "plain": "other images",
            "detector": "detectors", "segmentation": "segmentation", "encoder": "encoders", "decoder": "decoders with a cache", "audio": "audio", "signal": "biosignals",
            "quantised": "quantised", "trees": "tree ensembles", "shipped": "shipped in PyPI packages, later"}  # of tests/interop/_wide.py
HALVES = ["unseen", "seen"]
TOOLS = {"onnxsim": "onnxsim", "onnxslim": "onnxslim", "onnxoptimizer": "onnxoptimizer", "ort-offline": "ONNX Runtime, offline"}
RIVALS = ["greedy", "taso", "metaflow"]


def collected(ratios, peer, threads, group=None):
    return [r for (g, p, t), values in ratios.items() if p == peer and t == threads and group in (None, g) for r in values]


def revisions(data, rlgo, half=None):
    one, two = (data.peers_revision(rlgo, threads, half) for threads in (1, 2))
    return one if one == two else f"{one}, two threads {two}"


def unchanged(ratios):
    kept = sum(r == 1 for r in ratios)
    return f"{kept} ({100 * kept / len(ratios):.0f} %)"


def by_half(data, threads=1):
    """[(label, ratios of rlgo)], of what is recorded."""
    _, rlgo = data.peers()
    found = [(f"{half} half", collected(data.peers(half=half)[0], rlgo, threads)) for half in HALVES]
    return [(label, ratios) for label, ratios in [*found, ("all", collected(data.peers()[0], rlgo, threads))] if ratios]


def corpus_sizes(data):
    """Models of the corpus by the labels of by_half(), raced or not."""
    halves = collections.Counter(f"{row['half']} half" for row in data.rows("peers/corpus.csv"))
    return {**halves, "all": halves.total()}


def best_tool(data, group=None, threads=1):
    """(its name, its ratios, rlgo's on the same models) of the best other tool."""
    ratios, rlgo = data.peers()
    tool = min((geometric_mean(values), tool) for tool in TOOLS if (values := collected(ratios, tool, threads, group)))[1]
    return tool, collected(ratios, tool, threads, group), collected(data.peers(raced_by=tool)[0], rlgo, threads, group)


def readme_peers(data):
    _, rlgo = data.peers()
    tool, others, own = best_tool(data)
    halves = by_half(data)
    total = len(halves[-1][1])
    corpus = corpus_sizes(data)
    lines = [f"Latency with rlgo relative to the original under ONNX Runtime, one thread, ten seconds a model. Lower is better; unchanged models count as 1.0. Rules were made without "
             f"a look at the unseen half. The best other tool, {TOOLS[tool]}: {geometric_mean(others):.3f} on {len(others)} models of the seen half, rlgo there {geometric_mean(own):.3f}. "
             f"rlgo {', '.join(f'{revision} ({half})' for half in HALVES if (revision := data.peers_revision(rlgo, 1, half)))}; [all {total} models](results/peers/peers.md), [other tools](results/comparisons.md), [where](results/optimise.md).",
             "", "| models | geometric mean | 95 % interval | unchanged | best | worst |", "|---|---|---|---|---|---|"]  # fmt: skip
    for label, ratios in halves:
        mean, _, rest = mean_cell(ratios).partition(" ")
        lines.append(f"| {label}, {len(ratios)} of {corpus[label]} models | {mean} | {rest} | {unchanged(ratios)} | {min(ratios):.2f} | {max(ratios):.2f} |")
    if halves[0][0] != "unseen half":
        lines += ["", "The unseen half has not been raced yet."]
    return lines


def five(data):
    """The claims of results/README.md: what is measured, its 95 % interval, where the rest is."""
    tool, others, same = best_tool(data)
    own = {threads: by_half(data, threads) for threads in (1, 2)}
    corpus = corpus_sizes(data)
    halves = "; ".join(f"{label} {geometric_mean(ratios):.3f} ({len(ratios)} of {corpus[label]} models)" for label, ratios in own[1])
    gain = learned_prices.gains(data.rows("prices-seconds.csv"), 10)
    (_, wrong, rate, *_), (_, cost, end, *_), (_, agent, apart, *_) = claims.mistakes(data), claims.search(data), claims.trained(data)
    rows = [
        ("Models of other people run faster than with other tools", f"latency to the original's, one thread: {halves}; the best other tool, {TOOLS[tool]}, {geometric_mean(others):.3f} on {len(others)} models, rlgo there {geometric_mean(same):.3f}",
         f"{own[1][0][0]} {mean_cell(own[1][0][1]).partition(' ')[2]}; two threads, {len(own[2][-1][1])} models: {mean_cell(own[2][-1][1])}", "[comparisons.md](comparisons.md#other-tools)"),
        ("\"Faster\" is rarely wrong", wrong, rate, "[comparisons.md](comparisons.md#how-often-faster-is-wrong)"),
        ("The default search beats TASO's in equal time", cost, f"{end} %", "[comparisons.md](comparisons.md#searches)"),
        ("Learned prices help a little", f"latency {geometric_mean(gain):.3f} of that with the formula's, 10 s, {len(gain)} models", mean_cell(gain).partition(" ")[2], "[prices.md](prices.md)"),
        ("A minute of training equals the default search", agent, f"{apart} %", "[agents.md](agents.md)"),
    ]  # fmt: skip
    return ["| claim | measured | 95 % interval | details |", "|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]


def tools(data):
    """The models that other tools raced on: the seen half's first ones."""
    ratios, rlgo = data.peers()
    lines = ["| models | " + " | ".join(TOOLS.values()) + " | rlgo |", "|---|" + "---|" * (len(TOOLS) + 1)]
    old = [g for g in GROUPS if collected(ratios, rlgo, 1, g)]
    sizes = {g: len(collected(ratios, rlgo, 1, g)) for g in old}
    for groups, name in [*(([g], f"{sizes[g]} {GROUPS[g]}") for g in old), (old, f"all {sum(sizes.values())}")]:
        cells = [mean_cell([r for g in groups for r in collected(ratios, peer, 1, g)]) for peer in (*TOOLS, rlgo)]
        lines.append(f"| {name} | {' | '.join(best_bold(cells))} |")
    mine, two = ([r for g in old for r in collected(ratios, rlgo, threads, g)] for threads in (1, 2))
    lines += ["", f"Geometric means with 95 % intervals over models; lower is better. Of these {len(mine)} models rlgo leaves {sum(r == 1 for r in mine)} as they are and {sum(r < 0.95 for r in mine)} take less than "
              f"0.95 of their time; the best {min(mine):.2f}, the worst {max(mine):.2f}. Two threads: {mean_cell(two)}. rlgo {revisions(data, rlgo, 'seen')}."]  # fmt: skip
    return lines


def families(data):
    """rlgo, family by family and half by half."""
    _, rlgo = data.peers()
    halves = [data.peers(half=half)[0] for half in HALVES]
    lines = ["| models | unseen | geometric mean | unchanged | seen | geometric mean |", "|---|---|---|---|---|---|"]
    for groups, name in [*(([g], n) for g, n in (GROUPS | FAMILIES).items()), ([*GROUPS, *FAMILIES], "all")]:
        unseen, seen = ([r for g in groups for r in collected(ratios, rlgo, 1, g)] for ratios in halves)
        if unseen or seen:
            lines.append(f"| {name} | {len(unseen)} | {f'{geometric_mean(unseen):.3f}' if unseen else '-'} | {unchanged(unseen) if unseen else '-'} | {len(seen)} | {f'{geometric_mean(seen):.3f}' if seen else '-'} |")
    return [*lines, "", "Latency with rlgo to the original's; lower is better."]


SYSTEMS = ["ONNX Runtime", "rlgo", "OpenVINO", "TensorRT", "TensorFlow, Grappler", "TensorFlow", "torch.compile", "PyTorch"]


def frameworks(data):
    rows = {(r["model"], r["threads"], r["system"]): r for r in data.rows("frameworks.csv")}
    lines = []
    for model, threads in dict.fromkeys((m, t) for m, t, _ in rows):
        cells = []
        for system in SYSTEMS[1:]:
            row = rows.get((model, threads, system), {"ratio": "", "note": "missing"})
            kept = system == "rlgo" and "left as it is" in row["note"]
            cells.append("=" if kept else f"{float(row['ratio']):.2f} [{float(row['ratio_low']):.2f}, {float(row['ratio_high']):.2f}]" if row["ratio"] else row["note"].partition(":")[0])
        lines.append([model, threads, f"{float(rows[model, threads, 'ONNX Runtime']['median_us']) / 1000:.2f}", *best_bold(cells, same=1.0)])
    machines = ", ".join(dict.fromkeys(row["machine"] for row in rows.values()))
    table = tables.table(["model", "threads", "ONNX Runtime, ms", *SYSTEMS[1:]], lines, keys=2, widths=(4, 4))
    return [*table, "", f"Latency to ONNX Runtime's (lower is better), quartiles of paired rounds; =: rlgo leaves the model as it is; rlgo {revisions_of(rows.values())}; {machines}."]


def conditions(rows):
    """(threads, what else ran) -> rows."""
    found = {}
    for row in rows:
        found.setdefault((row["threads"], row["load"]), []).append(row)
    return found


def processes(data):
    """Whether "faster" is said by mistake (aa.csv), and whether it holds in further processes (again.csv)."""
    lines = ["| threads, load | models against themselves | called faster | models of status 0, raced again | processes above 1.0 | slower, faster than the interval printed |", "|---|---|---|---|---|---|"]
    same, again = conditions(data.rows("aa.csv")), conditions(data.rows("again.csv"))
    for threads, load in sorted({*same, *again}):
        itself, raced = same.get((threads, load), []), [r for r in again.get((threads, load), []) if r["ratio"]]
        above = sum(float(r["ratio"]) > 1 for r in raced)
        slower, faster = (sum(sign * (float(r["ratio"]) - float(r[end])) > 0 for r in raced) for sign, end in ((1, "reported_high"), (-1, "reported_low")))
        lines.append(f"| {threads}, {load} | {len(itself)} | {sum(r['called'] == 'faster' for r in itself)} | {len({r['model'] for r in raced})} | {above} of {len(raced)} | {slower}, {faster} of {len(raced)} |")
    return [*lines, "", f"Lower is better: at most 1 % of models called faster by mistake, of processes above 1.0, and of processes beyond each end of the interval are allowed. rlgo {revisions_of([*data.rows('aa.csv'), *data.rows('again.csv')])}; `results/aa.py`, `results/again.py`."]


def against_taso(data, profile, method):
    """Ratios of the costs at the end to TASO's, graph by graph."""
    runs = data.searches()
    return {g: mean([float(r["after_us"]) for r in rows]) / float(runs[p, g, "taso"][0]["after_us"]) for (p, g, m), rows in runs.items() if (p, m) == (profile, method)}


def searches(data):
    runs = data.searches()
    methods = sorted({m for _, _, m in runs} - {"taso"}, key=lambda m: sum(change_of(list(against_taso(data, p, m).values()))[0] for p in ("cpu", "gpu")))
    seeds = max(len(rows) for rows in runs.values())
    columns = ["search", "cost against TASO's, profile cpu, %", "profile gpu (a simulation), %", "below TASO, equal, above"]
    rows = []
    for method in methods:
        ratios = {p: against_taso(data, p, method) for p in ("cpu", "gpu")}
        both = [*ratios["cpu"].values(), *ratios["gpu"].values()]
        cells = ["{:+.2f} [{:+.2f}, {:+.2f}]".format(*change_of(list(r.values()))) for r in ratios.values()]
        below, above = sum(r < 1 - 1e-6 for r in both), sum(r > 1 + 1e-6 for r in both)
        rows.append([method, *cells, f"{below}, {len(both) - below - above}, {above}"])
    lines = tables.table(columns, [[*row[:-1], end[-1]] for row, end in zip(best_bold_of_columns([row[:-1] for row in rows], 1), rows)])
    revision = revisions_of(r for rows in runs.values() for r in rows)
    limits = [float(r["seconds"]) for (_, _, m), rows in runs.items() for r in rows if r["ended_by"] != "finished" and m != "egraph"]
    slowest = [float(r["seconds"]) for (_, _, m), rows in runs.items() for r in rows if m == "egraph"]
    longer = f" (egraph {min(slowest):.1f} to {max(slowest):.0f} s)" if slowest else ""
    lines += ["", f"{len({g for _, g, _ in runs})} graphs, at most {max(limits):.0f} s of one core each{longer}, the same rules and prices; {seeds} seed{'s' if seeds > 1 else ''}; rlgo {revision}. "
              "Geometric means and 95 % intervals over graphs; lower is better: [searches.md](searches.md)."]  # fmt: skip
    return lines


def agents(data):
    greedy, taso = data.search_traces("greedy"), data.search_traces("taso")
    found = {a: data.best(a) for a in ("model-free", "model-based")}
    runs = data.searches()
    today = {g: mean([float(r["change_percent"]) for r in rows]) for (p, g, m), rows in runs.items() if (p, m) == ("cpu", "portfolio")}
    lines = ["| graph | greedy search | TASO's search | model-free agent (seeds) | model-based agent (seeds) | default search |", "|---|---|---|---|---|---|"]
    for graph in taso:
        cells = [*(f"{float(method[graph]['change, %']):.2f}" for method in (greedy, taso)), *(f"{mean(found[a][graph]):.2f} ({', '.join(f'{v:.2f}' for v in found[a][graph])})" for a in found)]
        lines.append(f"| {graph} | {' | '.join(best_bold([*cells, f'{today[graph]:.2f}' if graph in today else '-']))} |")
    epochs = [int(r["epochs"]) for r in data.rows("figures/summary.csv")]
    revision = revisions_of(r for rows in runs.values() for r in rows)
    return [*lines, "", f"Change of cost by formula, %; lower is better. Searches: 50,000 graphs; agents: {from_to(epochs)} epochs (RLFlow: 2,000); rlgo {data.figures_revision()}. "
            f"Last column, of rlgo {revision}: today's, with the runtime's rules too."]  # fmt: skip


def latency(data):
    systems = ("taso", "model-free", "model-based")
    lines = [f"| under | {' | '.join(systems)} |", "|---|---|---|---|"]
    for name, runtime in (("LibTorch", "LibTorch"), ("ONNX Runtime", "race")):
        cells = ["{:+.2f} [{:+.2f}, {:+.2f}]".format(*change_of(claims.changes(data.runtimes(runtime, system)))) for system in systems]
        lines.append(f"| {name} | {' | '.join(best_bold(cells))} |")
    return [*lines, "", f"Change of latency, %; lower is better. Geometric mean over five graphs and its 95 % interval; rlgo {data.figures_revision()}: [figures](figures/README.md)."]


def speed_up(ratio):
    return f"{100 * (1 / ratio - 1):.1f}"


MEASURED = {"bert": "bert-14-open", "resnext50": "resnext50-17", "inception_v3": "inception_v3-16", "squeezenet1_1": "squeezenet1_1-11", "vgg19": "light_vgg19"}


def tensat(data):
    published = {(r["graph"], r["system"]): r["value"] for r in data.rows("published.tsv", "\t") if r["source"] == "Tensat"}
    runs, known = data.searches(), {(r["profile"], r["graph"]): r for r in data.rows("best-known.tsv", "\t")}
    measured = {r["model"]: r for r in data.rows("peers/peers.csv") if r["peer"] == data.peers()[1] and r["threads"] == "1"}
    columns = ["graph", "TASO, published", "Tensat, published", "here, measured under ONNX Runtime"]
    columns += [f"here, {profile}: {method}" for profile in ("gpu", "cpu") for method in ("TASO's search", "e-graph", "default search", "best known")]
    lines = []
    for graph in dict.fromkeys(g for g, _ in published):
        cells = []
        for profile in ("gpu", "cpu"):
            for method in ("taso", "egraph", "portfolio"):
                rows = runs.get((profile, graph, method))
                cells.append("not recorded" if not rows else speed_up(mean([float(r["after_us"]) for r in rows]) / float(rows[0]["before_us"])))
            row = known[profile, graph]
            cells.append(speed_up(float(row["after_us"]) / float(row["before_us"])))
        cells = [*best_bold(cells[:3], higher=True), cells[3], *best_bold(cells[4:7], higher=True), cells[7]]
        row = measured.get(MEASURED.get(graph))
        ratio = None if row is None or not row["ratio"] else 1.0 if row["unchanged"] in ("1", "1.0") else float(row["ratio"])
        timed = "not recorded" if ratio is None else speed_up(ratio)
        lines.append([graph, *best_bold([published[graph, "TASO"], published[graph, "Tensat"]], higher=True), timed, *cells])
    revisions = revisions_of(r for rows in runs.values() for r in rows)
    return [*tables.table(columns, lines, widths=(3, 4, 4)), "", f"Speed-up in percent; higher is better, the best search of a row and the better published one are bold. It is time before / time after - 1. Searches: rlgo {revisions}; best known: {revisions_of(known.values())}; "
            f"measured: {data.peers_revision(data.peers()[1], 1)}, 0.0: the model is left as it is."]  # fmt: skip


def rlflow(data):
    published = {(r["graph"], r["system"]): float(r["value"]) for r in data.rows("published.tsv", "\t") if r["source"] == "RLFlow"}
    ours = {(r, s): data.runtimes(r, s) for r in ("LibTorch", "race") for s in ("taso", "model-free", "model-based")}
    openvino = data.runtimes("race", "OpenVINO")
    columns = ["graph", "published, to TensorFlow: TensorRT", "TASO", "model-free", "model-based", "here, LibTorch: TASO", "model-free", "model-based", "here, ONNX Runtime: OpenVINO", "TASO", "model-free", "model-based"]
    lines = []
    for graph in dict.fromkeys(g for g, _ in published):
        cells = [percent(100 * (published[graph, s] / published[graph, "TensorFlow"] - 1), 1) for s in ("TensorRT", "TASO", "model-free", "model-based")]
        cells += [percent(float(ours["LibTorch", s][graph]["change, %"]), 1) for s in ("taso", "model-free", "model-based")]
        cells += [percent(float(row[graph]["change, %"]), 1) for row in (openvino, *(ours["race", s] for s in ("taso", "model-free", "model-based")))]
        cells = [*best_bold(cells[:4]), *best_bold(cells[4:7]), *best_bold(cells[7:])]
        lines.append([graph, *cells])
    return [*tables.table(columns, lines, widths=(4, 3, 4)), "", f"Change of run time; lower is better, the best of each setting is bold: published, to TensorFlow's; here, to the unmodified model in the same runtime; rlgo {data.figures_revision()}."]


def profiles(data):
    rows = data.rows("profiles.csv")
    targets = list(dict.fromkeys(row["target"] for row in rows))
    cell = {(row["target"], row["kind"]): row for row in rows}
    columns = ["operators", *(f"{t}: {what}" for t in targets for what in ("held out", "profile cpu: factor, rank", "fitted: factor, rank"))]
    table = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        cells = []
        for row in (cell.get((t, kind)) for t in targets):
            factors = best_bold([f"{float(row[of]):.2f}" for of in ("factor_before", "factor")]) if row else ()
            cells += [row["operators"], f"{factors[0]}, {float(row['rank_before']):.2f}", f"{factors[1]}, {float(row['rank']):.2f}"] if row else ["-"] * 3
        table.append([kind, *cells])
    lines = tables.table(columns, table, widths=[3] * len(targets))
    lines += ["", "Factor: median factor by which the profile is off; lower is better. Rank: correlation of ranks; higher is better."]
    for row in (cell[t, "all"] for t in targets):
        kept = ", ".join(f"`{key}`" for key in row["kept"].split()) or "none"
        lines += ["", f"{row['runtime']}: {row['timed']} operators timed; constants that the times do not determine: {kept}; rlgo {row['commit']}; {row['machine']}."]
    return lines


def growth(data):
    cells = {(r["family"], r["part"], int(r["operators"])): r for r in data.rows("growth.csv")}
    sizes = sorted({size for _, _, size in cells})
    lines = ["| graphs, part | " + " | ".join(f"{size:,} operators" for size in sizes) + " | time, memory |", "|---|" + "---|" * (len(sizes) + 1)]
    for family, part in dict.fromkeys((family, part) for family, part, _ in cells):
        rows = [cells[family, part, size] for size in sizes if (family, part, size) in cells]
        (n0, t0, m0), (n1, t1, m1) = ([float(r[c]) for c in ("operators", "cpu_s", "peak_mib")] for r in rows[-2:])
        powers = [math.log(b / a) / math.log(n1 / n0) for a, b in ((t0, t1), (m0, m1))]
        texts = [f"{float(r['cpu_s']):.2f} s, {float(r['peak_mib']):.0f} MiB" for r in rows]
        lines.append(f"| {family}, {part} | {' | '.join(texts)} | n^{powers[0]:.2f}, n^{powers[1]:.2f} |")
    return lines


def verify(rows):
    lines = ["| model | operators | a run, s | LibTorch in double precision, s | ratio | a whole comparison, s |", "|---|---|---|---|---|---|"]
    for row in rows:
        if row["refused"]:
            lines.append(f"| {row['model']} | - | - | - | refused: {row['refused']} | - |")
            continue
        own, other = best_bold([f"{float(row[key]):.3g}" for key in ("run_s", "reference_s")])
        lines.append(f"| {row['model']} | {row['operators']} | {own} | {other} | {float(row['ratio']):.2f} | {float(row['comparison_s']):.3g} |")
    return [*lines, "", f"Lower is better; one thread, processor time; rlgo {revisions_of(rows)}; {rows[0]['machine']}."]


RUNTIMES = {"opencv": "OpenCV", "tract": "tract", "mnn": "MNN", "ncnn": "ncnn"}


def factor(row):
    """Latency with rlgo to the original's; 1 where rlgo keeps the model, nothing where the runtime does not run it."""
    return {"improved": lambda: float(row["ratio"]), "unchanged": lambda: 1.0}.get(row["verdict"], lambda: None)()


def runtimes_summary(rows):
    lines = ["| runtime | models that it runs | faster | geometric mean | best | largest error of outputs, of what is allowed |", "|---|---|---|---|---|---|"]
    for runtime, name in RUNTIMES.items():
        own = [row for row in rows if row["runtime"] == runtime]
        ratios = [ratio for row in own if (ratio := factor(row)) is not None]
        if not ratios:
            continue
        errors = [float(row["error"]) / float(row["allowed"]) for row in own if row["verdict"] == "improved" and row["allowed"]]
        lines.append(f"| {name} | {len(ratios)} of {len(own)} | {sum(row['verdict'] == 'improved' for row in own)} | {mean_cell(ratios)} | {min(ratios):.2f} | {f'{max(errors):.2g}' if errors else '-'} |")
    versions = ", ".join(sorted({row["version"] for row in rows if row["version"]}))
    return [*lines, "", f"Lower is better; one thread, 5 s a model; unchanged models count as 1.0. {versions}; rlgo {revisions_of(rows)}; {rows[0]['machine']}."]


def runtimes_models(rows):
    lines = [f"| model | {' | '.join(RUNTIMES.values())} |", "|---|" + "---|" * len(RUNTIMES)]
    cell = {(row["model"], row["runtime"]): row for row in rows}
    for model in dict.fromkeys(row["model"] for row in rows):
        cells = []
        for row in (cell.get((model, runtime)) for runtime in RUNTIMES):
            improved = row is not None and row["verdict"] == "improved"
            cells.append(f"{float(row['ratio']):.2f} [{float(row['ratio_low']):.2f}, {float(row['ratio_high']):.2f}]" if improved else "=" if row is not None and row["verdict"] == "unchanged" else "-")
        lines.append(f"| {model} | {' | '.join(best_bold(cells, same=1.0))} |")
    return [*lines, "", "Latency with rlgo to the original's in the same runtime, with the interval at an error of 1 %; lower is better, the best of a row is bold. =: rlgo keeps the model. -: the runtime does not run it."]


def runtimes_reasons(rows):
    """Models without a ratio, by runtime and reason."""
    lines = []
    for runtime, name in RUNTIMES.items():
        own = [row for row in rows if row["runtime"] == runtime and factor(row) is None]
        lines += [f"- {name}, {row['model']}: {re.sub(' +', ' ', row['reason']).split(': ', 1)[-1]}" for row in own]
    short = sum("time" in row["reason"] or "rounds" in row["reason"] for row in rows if row["verdict"] == "unchanged")
    kept = sum(row["verdict"] == "unchanged" for row in rows)
    return [*(lines or ["- none"]), "", f"rlgo keeps {kept} models; for {short} of them it states that the time was short."]


def of_learned(table, name):
    """A maker; where nothing is recorded it names the command, which is no stage of record.py."""

    def lines(data):
        try:
            return table(data.rows(name))
        except Missing:
            return [f"Not recorded yet: `results/learned.py record --out results/{name}` (`--help` says how)."]

    return lines


def of_rows(lines_of, name):
    return lambda data: lines_of(data.rows(name))


def of_kernels(make):
    return lambda data: make(data.rows("kernels-elsewhere-runs.csv"), data.rows("kernels-elsewhere.csv"))


def temperatures(data):
    columns = (("world-model score, %", "world-model"), ("real score, %", "real"), ("real greedy, %", "greedy"))
    lines = ["| temperature | seeds | dreamed, % | real, drawn, % | real, greedy, % |", "|---|" + "---|" * 4]
    for row in data.rows("figures/table-5.1-temperature.csv"):
        cells = [f"{float(row[value]):.2f} +- {float(row[f'{name} 95 % half-width']):.2f}" for value, name in columns]
        lines.append(f"| {float(row['temperature']):g} | {row['runs']} | {' | '.join(cells)} |")
    return [*lines, "", f"Change of cost by an episode; lower is better. Mean and half of the 95 % t-interval over seeds; rlgo {data.figures_revision()}."]


TABLES = {
    "README.md": {"peers": readme_peers},
    "docs/reproduce.md": {"claims": claims.table},
    "results/README.md": {"five": five},
    "results/comparisons.md": {"tools": tools, "families": families, "processes": processes, "frameworks": frameworks, "searches": searches},
    "results/agents.md": {"learning": of_rows(equal_seconds.summary, "equal-seconds.csv"), "agents": agents, "latency": latency},
    "results/notes/agents-graphs.md": {"equal-seconds": of_rows(equal_seconds.table, "equal-seconds.csv"), "five-minutes": of_rows(equal_seconds.table, "equal-seconds-300.csv")},
    "results/dream-gap.md": {"questions": lambda data: swaps.questions(data.rows("swaps.csv"), data.rows("dream-promises.csv")), "explanations": of_rows(swaps.explanations, "swaps.csv"),
                             "gaps": of_rows(swaps.gaps, "swaps.csv"), "apart": of_rows(swaps.apart, "swaps.csv"), "unseen": of_rows(swaps.unseen, "swaps.csv")},
    "results/growth.md": {"growth": growth},
    "results/kernels-elsewhere.md": {name: of_kernels(make) for name, make in (("summary", kernels.summary), ("operators", kernels.operators), ("outliers", kernels.outliers), ("refused", kernels.refused))},
    "results/latency.md": {"finals": of_rows(latencies.finals, "latency.csv"), "curves": of_rows(latencies.curves, "latency-curves.csv")},
    "results/learned.md": {"learned-seconds": of_learned(learned.in_equal_seconds, "learned.csv"), "learned-graphs": of_learned(learned.graphs_needed, "learned-all.csv")},
    "results/nnsmith.md": {"nnsmith": of_rows(oracles.nnsmith, "nnsmith.csv")},
    "results/oodte.md": {"oodte": of_rows(oracles.oodte, "oodte.csv")},
    "results/prices.md": {"prices": of_rows(learned_prices.summary, "prices-seconds.csv"), "seconds": of_rows(learned_prices.in_equal_seconds, "prices-seconds.csv"),
                          "elsewhere": lambda data: learned_prices.elsewhere(data.rows("prices-seconds.csv"), data.rows("prices-elsewhere.csv"))},
    "results/notes/prices-operators.md": {"accuracy": of_rows(learned_prices.accuracy, "prices.csv")},
    "results/profiles.md": {"profiles": profiles},
    "results/world-model.md": {"efficiency": of_rows(efficiency.table, "sample-efficiency.csv"), "promises": of_rows(promises.table, "dream-promises.csv")},
    "results/notes/world-model-parts.md": {"repairs": of_rows(promises.repairs, "dream-promises.csv"), "repairs-earlier": of_rows(lambda rows: promises.repairs(rows, promises.EARLIER), "dream-promises.csv"),
                                           "temperature": temperatures, "transfer": of_rows(promises.transfer, "world-transfer.csv")},
    "results/other-runtimes.md": {"summary": of_rows(runtimes_summary, "other-runtimes.csv"), "models": of_rows(runtimes_models, "other-runtimes.csv"), "reasons": of_rows(runtimes_reasons, "other-runtimes.csv")},
    "results/verify.md": {"verify": of_rows(verify, "verify.csv")},
    "results/published.md": {"tensat": tensat, "rlflow": rlflow},
}


def wrapped(line):
    """Prose at 100 columns, a list item under its text; tables as they are."""
    if line.startswith("|") or not line:
        return [line]
    mark = re.match(r"\s*(- )?", line).group()
    return textwrap.wrap(line.strip(), 100, initial_indent=line[: len(line) - len(line.lstrip())], subsequent_indent=" " * len(mark), break_long_words=False, break_on_hyphens=False)


def made(text, makers, data):
    """A page with its tables made again."""
    for name, maker in makers.items():
        begin, end = f"<!-- made by results/pages.py: {name} -->\n", "<!-- end -->"
        if text.count(begin) != 1:
            raise ValueError(f"no place for {name}, or more than one: {begin.strip()}")
        head, _, rest = text.partition(begin)
        _, found, tail = rest.partition(end)
        if not found:
            raise ValueError(f"{name} has no {end}")
        try:
            lines = maker(data)
        except Missing as error:
            lines = [f"Not recorded yet ({pathlib.Path(str(error)).name}): `results/record.py --list` names what is missing."]
        text = head + begin + "\n".join(part for line in lines for part in wrapped(line)) + "\n" + end + tail
    unknown = set(re.findall(r"<!-- made by results/pages.py: (\S+) -->", text)) - set(makers)
    if unknown:
        raise ValueError(f"nothing makes {', '.join(sorted(unknown))}")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    options = parser.parse_args()
    data, different = Recorded(options.root), 0
    for page, makers in TABLES.items():
        path = options.root / page
        old = path.read_text(encoding="utf-8")
        new = made(old, makers, data)
        if new == old:
            continue
        different += 1
        if options.check:
            before, after = old.splitlines(), new.splitlines()
            place = next((n for n, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
            print(f"{page}:{place + 1}: differs from what is recorded: results/pages.py writes it again")
        else:
            path.write_text(new, encoding="utf-8")
            print(page)
    return 1 if options.check and different else 0


if __name__ == "__main__":
    sys.exit(main())
