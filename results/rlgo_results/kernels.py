"""Which kernels are slow in runtimes: tables of what results/kernels.py recorded."""
import collections
import statistics

NAMES = {"openvino": "OpenVINO", "opencv": "OpenCV", "tract": "tract", "mnn": "MNN", "ncnn": "ncnn", "onnxruntime:2": "ONNX Runtime, 2 threads"}
SLOW = 4  # times what the machine needs, as in rlgo bench kernels
LISTED = 6


def targets_of(rows):
    return [target for target in NAMES if any(row["target"] == target for row in rows)]


def merged(runs, kernels, target):
    """Kernels of all pieces as one: (operator, kernel) -> us, the machine's own us, part of the models' time. Every model counts alike."""
    sizes = {row["models"]: len(row["models"].split()) for row in runs if row["target"] == target}
    found = {}
    for row in kernels:
        if row["target"] != target:
            continue
        key = row["operator"], row["kernel"]
        fraction = float(row["fraction"]) * sizes[row["models"]] / sum(sizes.values())
        us, machine_us, before = found.get(key, (float(row["us"]), float(row["machine_us"]), 0.0))
        found[key] = us, machine_us, before + fraction
    return found


def slow(found):
    """Those of merged() that take SLOW times what the machine needs, by the time that they lose."""
    kept = {key: value for key, value in found.items() if value[0] / value[1] >= SLOW}
    return sorted(kept.items(), key=lambda item: -item[1][2] * (1 - item[1][1] / item[1][0]))


def summary(runs, kernels):
    lines = ["| runtime | models | kernels timed | product, GFLOP/s | slow kernels | their part of the time |", "|---|---|---|---|---|---|"]
    for target in targets_of(runs):
        own, found = [row for row in runs if row["target"] == target], merged(runs, kernels, target)
        outliers = slow(found)
        speeds = " to ".join(sorted({f"{float(row['gflops']):.0f}" for row in own}, key=float))
        lines.append(f"| {NAMES[target]} | {sum(len(row['models'].split()) for row in own)} | {len(found)} | {speeds} | {len(outliers)} | {100 * sum(v[2] for _, v in outliers):.1f} % |")
    spread, versions = max(float(row["spread"]) for row in runs), ", ".join(sorted({row["runtime"] for row in runs}))
    return [*lines, "", f"Slow: at least {SLOW} times what the machine needs. Times of the same operator spread by up to {100 * spread:.0f} % within a call. {versions}; rlgo "
            f"{', '.join(sorted({row['commit'][:7] for row in runs}))}; {runs[0]['machine']}."]  # fmt: skip


def operators(runs, kernels):
    """Median of times the machine's own and part of the time, by operator; those that any runtime takes twice the machine's own for."""
    targets = [t for t in targets_of(runs) if t != "onnxruntime:2"]
    cell, most = collections.defaultdict(dict), collections.defaultdict(float)
    for target in targets:
        by_operator = collections.defaultdict(list)
        for (operator, _), value in merged(runs, kernels, target).items():
            by_operator[operator].append(value)
        for operator, values in by_operator.items():
            factor = statistics.median(us / machine_us for us, machine_us, _ in values)
            cell[operator][target] = f"{factor:.1f}, {100 * sum(v[2] for v in values):.1f} %"
            most[operator] = max(most[operator], factor)
    lines = [f"| operator | {' | '.join(NAMES[t] for t in targets)} |", "|---|" + "---|" * len(targets)]
    lines += [f"| {operator} | {' | '.join(cell[operator].get(t, '-') for t in targets)} |" for operator in sorted(cell, key=lambda o: (-most[o], o)) if most[operator] >= 2]
    return [*lines, "", "Lower is better: median of times the machine's own, then the part of the models' time. -: no model has it, or the runtime does not run it alone."]


def outliers(runs, kernels):
    lines = ["| runtime | kernel | us | the machine's own | part of the time |", "|---|---|---|---|---|"]
    for target in targets_of(runs):
        for (_, kernel), (us, machine_us, fraction) in slow(merged(runs, kernels, target))[:LISTED]:
            lines.append(f"| {NAMES[target]} | `{kernel}` | {us:.4g} | {machine_us:.3g} | {100 * fraction:.2f} % |")
    return lines


def refused(runs, _):
    """What each runtime does not run alone, with its first reason."""
    lines = []
    for target in targets_of(runs):
        counts, reasons = collections.Counter(), collections.Counter()
        for row in runs:
            if row["target"] != target:
                continue
            for column, into in (("refused", counts), ("because", reasons)):
                for part in filter(None, row[column].split("; ")):
                    count, _, what = part.partition(" x ")
                    into[what] += int(count) if count.isdigit() else 0
        if counts:
            reason = f". It states: {reasons.most_common(1)[0][0][:120]}" if reasons else ""
            lines.append(f"- {NAMES[target]}: {', '.join(f'{name} ({count})' for name, count in sorted(counts.items()))}{reason}")
    return lines or ["- none"]
