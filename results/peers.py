#!/usr/bin/env python3
"""rlgo next to the tools that people use: what each makes of a model, measured in ONNX Runtime in one run.

For each model and each peer: number of operators, time that the tool took, error of its outputs, and latency in ONNX
Runtime at its default optimisation level with 1 and 2 threads. All variants of a model are timed together, loaded again three times: rounds in
random order, `original` twice in each round (the ratio of the two is the A/A noise), medians of paired ratios. A peer that leaves
a model as it is counts as 1.000 for it in tables, means and figure, whatever the noise was (column `unchanged`).

    peers.py [--rlgo BINARY] [--out FOLDER] [--seconds S] [--blocks N] [--half seen|unseen] [--families F ...] [MODEL ...]
    peers.py --merge FOLDER [--out results/peers]

MODEL is a name of the corpus (tests/interop/_models.py) or a file; none: the whole corpus but what differs in opset
only. Results: FOLDER/peers.csv (one line per model, peer, and thread count, appended as soon as a model is done; what is in
it is not measured again: the run can be stopped and started again, and a peer whose lines were taken out is measured again), FOLDER/peers.md (table), FOLDER/peers.png.
--until-s ends a call in time, with status 75 where models are left. `peers.py --report FOLDER` draws again. --merge puts the lines of FOLDER/peers.csv
into those of --out: a peer's line of a model and thread count takes the place of an older one; `original` stays that of the race with the most peers.
The halves of the corpus: rlgo_results/halves.py. Peers whose PyPI package is missing are left out and named: onnxsim, onnxslim,
onnxoptimizer (RLGO_SETUP_REFERENCES=1 launch/scripts/setup.sh).
"""
import argparse
import csv
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
import _models  # noqa: E402

sys.path.append(str(_models.CACHE.parent / "references"))
from rlgo_results import tables  # noqa: E402
from rlgo_results.halves import half  # noqa: E402
from rlgo_results.means import mean_cell  # noqa: E402
from rlgo_results.race import in_onnxruntime, race, session_options, share_pool  # noqa: E402
from rlgo_results.tables import best_bold  # noqa: E402
from rlgo_results.where import machine, revision  # noqa: E402

COLUMNS = ["group", "model", "peer", "threads", "operators", "made_s", "error", "median_us", "ratio", "ratio_low", "ratio_high", "noise", "rounds", "note", "commit", "machine", "unchanged"]
PEERS = ["original", "onnxsim", "onnxslim", "onnxoptimizer", "ort-offline", "rlgo"]
# One of each architecture, and everything that was shipped.
TORCH = ["resnet18-11", "resnet50-13-open", "mobilenet_v2-12", "mobilenet_v3_small-13-open", "mobilenet_v3_large-14", "efficientnet_b0-15", "squeezenet1_1-11",
         "inception_v3-16", "densenet121-17", "shufflenet_v2-17", "resnext50-17", "swin_t-17", "vit_b_32-17", "bert-14-open", "distilbert-17", "gpt2-21-dynamo", "lstm-17", "gru-18"]
LEAST_ROUNDS = 4  # of each load
ROWS_OF_FIGURE = 72  # models below each other
TOLERANCE = 1e-3  # or twice what the runtime's own optimisation changes in the original's outputs


# ---- what each peer makes of a model; a file, or an exception ----------------------------------------------------------


def by_onnxsim(source, target, _):
    import onnxsim

    model, good = onnxsim.simplify(onnx.load(source))
    if not good:
        raise RuntimeError("its own check failed")
    onnx.save(model, target)


def by_onnxslim(source, target, _):
    import onnxslim

    onnx.save(onnxslim.slim(onnx.load(source)), target)


def by_onnxoptimizer(source, target, _):
    import onnxoptimizer

    onnx.save(onnxoptimizer.optimize(onnx.load(source), onnxoptimizer.get_fuse_and_elimination_passes()), target)


def by_ort_offline(source, target, _):
    """Saved with the optimisations that do not depend on the processor at hand, and then loaded at the default level."""
    options = session_options(1)
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target)
    ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def by_rlgo(source, target, args):
    """As a user calls it for the first time: the default search, no operator timed before."""
    name = pathlib.Path(source).stem
    sizes = [part for key, size in _models.SIZES.get(name, {}).items() if size > 1 for part in ("--size", f"{key}={size}")]
    command = [args.rlgo, "optimise", source, "-o", target, "--cost.folder", pathlib.Path(target).with_suffix(".costs"), "--seconds", str(args.seconds), "--target", "onnxruntime", "--target.python", sys.executable, *sizes]
    run = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=20 * args.seconds + 300)
    if run.returncode == 3 or (run.returncode == 0 and not pathlib.Path(target).exists()):
        return "nothing found: the original is kept"
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip().splitlines()[-1] if run.stderr.strip() else f"status {run.returncode}")
    return ""


MAKERS = {"onnxsim": by_onnxsim, "onnxslim": by_onnxslim, "onnxoptimizer": by_onnxoptimizer, "ort-offline": by_ort_offline,
          "rlgo": by_rlgo}


# ---- measurement ------------------------------------------------------------------------------------------------------


def relative_error(path, feeds, expected, level=None):
    options = session_options(1)
    if level is not None:
        options.graph_optimization_level = level
    found = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feeds)
    worst = 0.0
    for a, b in zip(expected, found, strict=True):
        a, b = np.asarray(a, float), np.asarray(b, float)
        if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
            return float("inf")
        if a.size:
            worst = max(worst, float(np.nanmax(np.abs(a - b), initial=0) / max(np.nanmax(np.abs(a), initial=0), 1e-30)))
    return worst


def same_model(one, other):
    """Whether two files hold the same model: the same operators, weights, inputs and outputs, whatever program wrote them."""
    if pathlib.Path(one).read_bytes() == pathlib.Path(other).read_bytes():
        return True
    plain = []
    for path in (one, other):
        model = onnx.load(path)
        del model.graph.value_info[:]
        for part in (model, model.graph):
            part.doc_string = ""
        model.producer_name = model.producer_version = ""
        plain.append(model.SerializeToString(deterministic=True))
    return plain[0] == plain[1]


def quantile(values, fraction):
    return float(np.quantile(np.asarray(values), fraction))


def samples_of(variants, feeds, threads, blocks, race_s, seed):
    """{variant: times of a run in us}, raced in this process."""
    share_pool(threads)
    return race({peer: in_onnxruntime(path, feeds, threads) for peer, path in variants.items()}, blocks, race_s, seed, LEAST_ROUNDS)


def samples_of_loads(variants, feeds, threads, args, seed):
    """The same in processes of their own, whose sessions share threads: where memory lies makes a model faster or slower for as long as it is loaded."""
    samples = {peer: [] for peer in variants}
    for load in range(args.loads):
        with multiprocessing.get_context("spawn").Pool(1) as process:
            found = process.apply(samples_of, (variants, feeds, threads, -(-args.blocks // args.loads), args.race_s / args.loads, seed + 100 * load))
        for peer, times in found.items():
            samples[peer] += times
    return samples


def measure(group, name, source, folder, peers, args):
    """Rows of one model, of the original and these peers."""
    model = onnx.load(source)
    feeds = _models.feeds(model, pathlib.Path(source).stem)
    expected = ort.InferenceSession(str(source), session_options(1), providers=["CPUExecutionProvider"]).run(None, feeds)
    # Outputs that are rounding alone differ by as much when the runtime optimises the model or does not.
    own = relative_error(source, feeds, expected, ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    tolerance = max(TOLERANCE, 2 * own) if np.isfinite(own) else TOLERANCE
    base = {"group": group, "model": name, "commit": args.commit, "machine": args.machine}
    made, variants = {"original": {"made_s": 0, "error": 0, "note": "", "operators": len(model.graph.node)}}, {"original": source}
    for peer in peers:
        target = pathlib.Path(folder) / f"{peer}.onnx"
        begin, row = time.perf_counter(), {}
        try:
            row["note"] = MAKERS[peer](source, target, args) or ""
            row["made_s"] = round(time.perf_counter() - begin, 2)
            file = target if target.exists() else source
            row["unchanged"] = int(same_model(source, file))
            row["operators"] = len(onnx.load(file, load_external_data=False).graph.node)
            row["error"] = relative_error(file, feeds, expected)
            if row["error"] <= tolerance:
                variants[peer] = file
            else:
                row["note"] = "other outputs: not timed"
        except Exception as error:  # of any kind: it is this peer's result
            row["note"] = f"failed: {str(error).strip().splitlines()[0][:120] if str(error).strip() else type(error).__name__}"
            row["made_s"] = round(time.perf_counter() - begin, 2)
        made[peer] = row
    rows = []
    for threads in args.threads:
        samples = samples_of_loads({**variants, "again": source}, feeds, threads, args, len(name) + threads)
        ratios = {peer: [a / b for a, b in zip(samples[peer], samples["original"])] for peer in samples}
        for peer, row in made.items():
            line = base | row | {"peer": peer, "threads": threads}
            if peer in variants:
                ratio = ratios["again"] if peer == "original" else ratios[peer]
                line |= {"median_us": round(statistics.median(samples[peer]), 2), "ratio": 1.0 if peer == "original" else round(statistics.median(ratio), 4),
                         "ratio_low": round(quantile(ratio, 0.25), 4), "ratio_high": round(quantile(ratio, 0.75), 4),
                         "noise": round(abs(1 - statistics.median(ratios["again"])), 4), "rounds": len(ratio)}
            rows.append(line)
    return rows


# ---- report -----------------------------------------------------------------------------------------------------------


def cell(row):
    if row.ratio != row.ratio:
        return "-"
    return "=" if row.unchanged == 1 else f"{row.ratio:.2f} ({int(row.operators)})"


def mean_of(ratios):
    return f"{mean_cell(ratios)} ({len(ratios)})" if len(ratios) else "-"


def report(folder):
    import pandas

    table = pandas.read_csv(folder / "peers.csv", dtype={"commit": str})  # 58554e0 is no number
    table.loc[table.unchanged == 1, "ratio"] = 1.0
    lines = [f"# Every model against the other tools\n\nCommit {', '.join(sorted(set(table.commit)))}; {', '.join(sorted(set(table.machine)))}; ONNX Runtime {ort.__version__}, default level. "
             "Ratios to the original's latency: lower is better, the best of a row is bold. A/A: the original against itself; "
             "=: the peer leaves the model as it is, which counts as 1. Means with their 95 % interval over models.\n"]
    others = sorted(set(table.peer) - set(PEERS))  # settings of earlier revisions
    measured = [p for p in [*PEERS[1:-1], *others, PEERS[-1]] if p in set(table.peer)]
    unrecorded = [p for p in measured if table[table.peer == p].unchanged.isna().all()]
    if unrecorded:
        lines.append(f"Whether {', '.join(unrecorded)} left a model as it was had not been recorded: their ratios are as measured.\n")
    for threads in sorted(set(table.threads)):
        part = table[table.threads == threads]
        peers = [p for p in measured if p in set(part.peer)]
        covered = {p: part[(part.peer == p) & part.ratio.notna()].model.nunique() for p in peers}
        lines.append(f"\n## {threads} thread{'s' if threads > 1 else ''}\n\nModels raced: {', '.join(f'{p} {n}' for p, n in covered.items())}; -: not raced. "
                     "Means are over the models that a peer raced on, so compare peers in rows with the same number of models.")
        models, raced = [], []
        for model in dict.fromkeys(part.model):
            rows = part[part.model == model].set_index("peer")
            first = rows.loc["original"]
            cells = [cell(rows.loc[p]) if p in rows.index else "-" for p in peers]
            models.append([model, f"{int(first.operators)}", f"{first.median_us / 1000:.2f}", f"{first.noise:.3f}"])
            raced.append([model, *best_bold(cells, same=1.0)])
        halves = part.apply(lambda row: half(row.group, row.model), axis=1)
        for label, rows in [*((g, part[part.group == g]) for g in dict.fromkeys(part.group)), *((f"{h} half", part[halves == h]) for h in ("unseen", "seen") if (halves == h).any()), ("all", part)]:
            raced.append([f"geometric mean, {label}", *best_bold([mean_of(rows[rows.peer == p].ratio.dropna()) for p in peers])])
        raced.append(["seconds to make, median", *(f"{part[part.peer == p].made_s.median():.1f}" for p in peers)])
        lines += ["", *tables.table(["model", *peers], raced), "", "The unmodified models:", "", *tables.table(["model", "operators", "ms", "A/A"], models)]
    (folder / "peers.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(table, measured, folder / "peers.png")
    print((folder / "peers.md").read_text(encoding="utf-8"))


def draw_column(axes, part, peers, models):
    import matplotlib.ticker

    for k, peer in enumerate(peers):
        rows = part[part.peer == peer].set_index("model")
        found = [(i, rows.loc[m].ratio) for i, m in enumerate(models) if m in rows.index and rows.loc[m].ratio == rows.loc[m].ratio]
        axes.scatter([r for _, r in found], [i for i, _ in found], label=peer, s=40 if peer == peers[-1] else 18, marker="D" if peer == peers[-1] else "o", zorder=3 + k)
    noise = part[part.peer == "original"].set_index("model").noise
    for i, model in enumerate(models):
        axes.fill_betweenx([i - 0.4, i + 0.4], 1 - noise[model], 1 + noise[model], color="0.85", zorder=1)
    axes.axvline(1, color="0.5", linewidth=1)
    axes.set_yticks(range(len(models)), models, fontsize=7)
    axes.set_ylim(len(models) - 0.3, -0.7)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(matplotlib.ticker.FixedLocator([0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2]))
    axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xlabel(f"latency / original (ONNX Runtime, default level, 1 thread)\nsorted by {peers[-1]}; grey: A/A noise")


def draw(table, peers, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    part = table[table.threads == table.threads.min()]
    gains = part[part.peer == peers[-1]].set_index("model").ratio
    models = sorted(dict.fromkeys(part.model), key=lambda m: (gains.get(m, 1.0), m))
    columns = [models[k : k + ROWS_OF_FIGURE] for k in range(0, len(models), ROWS_OF_FIGURE)]
    figure, panels = plt.subplots(1, len(columns), figsize=(9 * len(columns), 1.5 + 0.28 * len(columns[0])), squeeze=False)
    for axes, shown in zip(panels[0], columns, strict=True):
        draw_column(axes, part, peers, shown)
    panels[0][0].legend(fontsize=7, loc="lower left")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def merge(source, target):
    """New models behind the old ones of their group, so that rows of a group stay together."""
    rows = {}
    for folder in (target, source):
        with open(folder / "peers.csv", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = (row["model"], row["peer"], row["threads"])
                if row["peer"] != "original" or key not in rows:
                    rows[key] = row
    groups = list(dict.fromkeys(row["group"] for row in rows.values()))
    models = list(dict.fromkeys(row["model"] for row in rows.values()))
    order = {model: k for k, model in enumerate(models)}
    ordered = sorted(rows.values(), key=lambda row: (groups.index(row["group"]), order[row["model"]]))
    with open(target / "peers.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(ordered)
    report(target)
    return 0


# ---- run --------------------------------------------------------------------------------------------------------------


def missing_peers(peers):
    import importlib.util

    return [p for p in peers if p in ("onnxsim", "onnxslim", "onnxoptimizer") and importlib.util.find_spec(p) is None]


def chosen_models(wanted, part=None, families=None):
    models = _models.corpus(("light", "pypi", "torch", "more", "wide"), fetch=False)
    if not wanted:
        models = [m for m in models if m[0] != "torch" or m[1] in TORCH]
        return [m for m in models if part in (None, half(m[0], m[1])) and (not families or m[0] in families)]
    files = [("file", pathlib.Path(w).stem, pathlib.Path(w)) for w in wanted if w.endswith(".onnx")]
    return sorted((m for m in models if m[1] in wanted), key=lambda m: wanted.index(m[1])) + files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--rlgo", default=str(ROOT / "build" / "release" / "rlgo"))
    parser.add_argument("--out", default=str(ROOT / "results" / "peers"))
    parser.add_argument("--seconds", type=float, default=10, help="time of each rlgo optimise")
    parser.add_argument("--blocks", type=int, default=41, help="rounds of a race at most")
    parser.add_argument("--race-s", type=float, default=5, help=f"time of a race, about; at least {LEAST_ROUNDS} rounds of each load")
    parser.add_argument("--loads", type=int, default=3, help="how often the models are loaded again in a race")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--peers", nargs="+", default=PEERS, choices=PEERS)
    parser.add_argument("--until-s", type=float, default=float("inf"), help="begins no further model after so many seconds; another call continues")
    parser.add_argument("--half", choices=["seen", "unseen"], help="only models of this half")
    parser.add_argument("--families", nargs="+", metavar="F", help="only models of these groups or families")
    parser.add_argument("--report", metavar="FOLDER", help="only table and plot of what is there")
    parser.add_argument("--merge", metavar="FOLDER", help="only put the lines of FOLDER into those of --out, and report")
    args = parser.parse_args()
    if args.report:
        return report(pathlib.Path(args.report))
    if args.merge:
        return merge(pathlib.Path(args.merge), pathlib.Path(args.out))
    folder = pathlib.Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    for peer in missing_peers(args.peers):
        print(f"{peer} is left out: pip install {peer}")
        args.peers.remove(peer)
    args.commit, args.machine = revision(args.rlgo), machine()
    file = folder / "peers.csv"
    done = {(row["model"], row["peer"]) for row in csv.DictReader(open(file, encoding="utf-8"))} if file.exists() else set()
    if not done:
        with open(file, "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerow(COLUMNS)
    models, start = chosen_models(args.models, args.half, args.families), time.perf_counter()
    missing = {name: [p for p in args.peers if p != "original" and (name, p) not in done] for _, name, _ in models}
    for number, (group, name, path) in enumerate(models, 1):
        if not missing[name]:
            continue
        begin = time.perf_counter()
        if begin - start > args.until_s:
            print(f"{sum(bool(missing[m[1]]) for m in models[number - 1:])} models are left: call again")
            report(folder)
            return 75
        try:
            with tempfile.TemporaryDirectory() as scratch:
                rows = measure(group, name, path, scratch, missing[name], args)
        except Exception as error:  # the original does not run
            print(f"[{number}/{len(models)}] {name}: {str(error)[:150]}", flush=True)
            continue
        with open(file, "a", newline="", encoding="utf-8") as out:
            csv.DictWriter(out, COLUMNS).writerows(r for r in rows if (name, r["peer"]) not in done)
        shown = ", ".join(f"{r['peer']} {r['ratio']:.2f}" if "ratio" in r else f"{r['peer']} ({r['note'][:60]})" for r in rows if r["threads"] == args.threads[0] and r["peer"] != "original")
        print(f"[{number}/{len(models)}] {name}: {rows[0]['median_us'] / 1000:.2f} ms, A/A {rows[0]['noise']:.3f}; {shown}; {time.perf_counter() - begin:.0f} s", flush=True)
    report(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
