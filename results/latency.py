#!/usr/bin/env python3
"""Agents that are rewarded by the latency of whole models, under ONNX Runtime: the best latency against timings and seconds.

    results/latency.py record --folder FOLDER --seconds 60 --seeds 0,1 [--core 0] MODEL ...
    results/latency.py collect --folder FOLDER --out results

`latency` is --agent model-based --wm.kind latency; `model-free` and `random` are rewarded by --env.reward latency; `search` is `rlgo optimise`
with learned prices, which times operators and a few whole models. Every run has --seconds and one thread, pinned to --core. No search follows an
agent's graph. The best graph of each is measured again in fresh processes, up to 60 rounds in turns with the unmodified model (result.json); a
graph that is shown to be slower is not written and counts as 1. `record` leaves a folder a run and repeats none that is there. `collect` writes
latency.csv (a row a run) and latency-curves.csv (best_latency after each tenth of the seconds; the upper end of an interval, as metrics.csv has
it). MODEL may be a file or a name of the corpus (tests/interop/_models.py). Times count on an idle machine only. A run takes about (--seconds + 30) s. results/pages.py makes results/latency.md of the two files.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import time

import learned

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
import _models  # noqa: E402
from rlgo_results.where import machine, revision  # noqa: E402

TIMED = ["--env.reward", "latency", "--cost", "analytic", "--train.steps-per-epoch", 32, "--env.max-steps", 40, "--gnn.width", 32, "--gnn.rounds", 2, "--train.envs-per-actor", 1]
METHODS = {
    "latency": ["--agent", "model-based", "--wm.kind", "latency", "--learned.graphs", 10000],
    "model-free": ["--agent", "model-free", *TIMED],
    "random": ["--agent", "random", *TIMED],
    "search": None,
}
FIELDS = ["model", "seed", "method", "seconds", "wall_s", "timings", "failed", "ratio", "ratio_low", "ratio_high", "commit", "machine"]
TENTHS = 10


def command_of(args, model, method, seed, folder):
    sizes = [part for key, size in _models.SIZES.get(model.stem, {}).items() if size > 1 for part in ("--size", f"{key}={size}")]
    if method == "search":
        return [args.rlgo, "optimise", model, *sizes, "-o", folder / "best.onnx", "--seconds", args.seconds, "--seed", seed, "--target", "onnxruntime", "--cost.folder", folder / "costs",
                "--check.repeats", 60, "--switches", "no", "--json", folder / "result.json", "--quiet"]  # fmt: skip
    return [args.rlgo, "train", "--quiet", "--graph", model, *sizes, *METHODS[method], "--target", "onnxruntime", "--seconds", args.seconds, "--epochs", 1000000, "--seed", seed,
            "--cost.repeats", 5, "--train.polish", "no", "--check.repeats", 60, "--store.rollouts", "no", "--runs", folder.parent, "--name", folder.name]  # fmt: skip


def record(args):
    args.folder.mkdir(parents=True, exist_ok=True)
    for seed in args.seeds.split(","):
        for model in learned.files_of(args.models):
            for method in args.methods.split(","):
                folder = args.folder / f"{model.stem}-{method}-s{seed}"
                if (folder / "result.json").is_file():
                    continue
                if method == "search":
                    folder.mkdir(exist_ok=True)
                command = command_of(args, model, method, seed, folder)
                pinned = ["taskset", "-c", args.core] if args.core else []
                began = time.monotonic()
                done = subprocess.run([str(word) for word in [*pinned, *command]], capture_output=True, text=True, check=False)
                if done.returncode not in (0, 3):
                    print(f"{folder.name}: status {done.returncode}: {done.stderr.strip()[-300:]}", file=sys.stderr)
                    continue
                (folder / "about.json").write_text(json.dumps({"commit": revision(args.rlgo), "machine": machine(), "seconds": args.seconds, "wall_s": round(time.monotonic() - began, 1)}), encoding="utf-8")
                print(folder.name, flush=True)


def curve(folder, seconds):
    """[(s, timings, best)] after each tenth of the time; what was reached counts until it is beaten."""
    path = folder / "metrics.csv"
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = [(float(r["seconds"]), int(r["timings"]), float(r["best_latency"])) for r in csv.DictReader(file)]
    points = []
    for k in range(1, TENTHS + 1):
        before = [r for r in rows if r[0] <= seconds * k / TENTHS]
        points.append((seconds * k / TENTHS, *(before[-1][1:] if before else (0, 1.0))))
    return points


def row_of(folder):
    model, method, seed = folder.name.rsplit("-", 2) if "model-free" not in folder.name else (folder.name.rsplit("-", 3)[0], "model-free", folder.name.rsplit("-", 1)[1])
    about, result = (json.loads((folder / name).read_text(encoding="utf-8")) for name in ("about.json", "result.json"))
    latency = result["latency"] or {}
    kept = latency.get("slower") or not latency.get("rounds")
    timings = result["agent"]["timings"] if "agent" in result else {}
    return {"model": model, "seed": seed[1:], "method": method, "seconds": about["seconds"], "wall_s": about["wall_s"], "timings": sum(timings.values()), "failed": timings.get("failed", 0),
            **{name: 1.0 if kept else f"{latency[name]:.4f}" for name in ("ratio", "ratio_low", "ratio_high")},
            "commit": about["commit"], "machine": about["machine"]}  # fmt: skip


def collect(args):
    folders = sorted(path.parent for path in args.folder.glob("*/about.json"))
    with open(args.out / "latency.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row_of(folder) for folder in folders)
    with open(args.out / "latency-curves.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model", "seed", "method", "seconds", "timings", "best_latency"])
        for folder in folders:
            row = row_of(folder)
            for seconds, timings, best in curve(folder, float(row["seconds"])):
                writer.writerow([row["model"], row["seed"], row["method"], f"{seconds:g}", timings, f"{best:.4f}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recorder, collector = commands.add_parser("record"), commands.add_parser("collect")
    for one in (recorder, collector):
        one.add_argument("--folder", type=pathlib.Path, required=True)
    recorder.add_argument("--rlgo", default=str(ROOT / "build/release/rlgo"))
    recorder.add_argument("--seconds", type=float, default=60)
    recorder.add_argument("--seeds", default="0")
    recorder.add_argument("--methods", default=",".join(METHODS))
    recorder.add_argument("--core", default="")
    recorder.add_argument("models", nargs="+")
    collector.add_argument("--out", type=pathlib.Path, default=ROOT / "results")
    args = parser.parse_args()
    (record if args.command == "record" else collect)(args)


if __name__ == "__main__":
    main()
