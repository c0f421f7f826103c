#!/usr/bin/env python3
"""What is learned for `rlgo optimise`, under ONNX Runtime: learned prices and `--method train` against the same without, in equal seconds. Methods
`learned` and `all` of the recorded data are gone (results/learned.md names the last revision that had them).

    results/learned.py record --out learned.csv --seconds 60 [--seeds 0] [--costs FOLDER] [--methods search,train] MODEL.onnx ...
    results/learned.py record --out prices-seconds.csv --seconds 3,10 --methods formula,search MODEL.onnx ...
    results/learned.py show learned.csv

`formula` is the default search without learned prices (--cost.learned no). Where --seconds has several numbers, all that is written runs in one race.
Each method starts from a copy of its own of FOLDER (tables of measured costs; none: empty). What they
wrote is then run in turns with the original in one process, for --race-s seconds (0: the ratio is that of the command's own last comparison); a
model that a method leaves as it is counts as 1. MODEL may be a file or a name of the corpus (tests/interop/_models.py). Rows are written as soon as a model is done; what is in the file
is not measured again. Times count on an idle machine only. A model and seed take about (methods x seconds + race-s + 5) s. results/pages.py makes
results/learned.md of results/learned.csv and results/learned-all.csv.
"""
import argparse
import csv
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
import _models  # noqa: E402
from rlgo_results import learned, learned_prices  # noqa: E402
from rlgo_results.recorded import rows_in  # noqa: E402
from rlgo_results.where import machine, revision  # noqa: E402

METHODS = {"search": ["--method", "search"], "formula": ["--method", "search", "--cost.learned", "no"], "train": ["--method", "train"]}
FIELDS = ["model", "seed", "method", "seconds", "took_s", "ratio", "noise", "rounds", "timed", "best_at", "sum_error_percent", "residual_error_percent", "ended_by",
          "times", "commit", "machine"]  # fmt: skip


def optimise(args, model, method, seconds, seed, folder):
    """(what `rlgo optimise --json` shows, the file it wrote or None)."""
    costs, out, reported = (folder / f"{method}-{seconds:g}{kind}" for kind in ("-costs", ".onnx", ".json"))
    if args.costs:
        shutil.copytree(args.costs, costs)
        for file in costs.glob("*.timed.tsv"):
            file.unlink()
    sizes = [part for key, size in _models.SIZES.get(model.stem, {}).items() if size > 1 for part in ("--size", f"{key}={size}")]
    command = [args.rlgo, "optimise", model, *sizes, "-o", out, *METHODS[method], "--seconds", seconds, "--seed", seed, "--target", "onnxruntime",
               "--cost.folder", costs, "--json", reported, "--quiet", "--switches", "no"]  # fmt: skip
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{model}, {method}: status {done.returncode}: {done.stderr.strip()[-300:]}")
    return json.loads(reported.read_text(encoding="utf-8")), out if out.exists() else None


def raced(model, written, seconds, seed):
    """{method: ratio to the original}, the original's ratio to itself, rounds."""
    from rlgo_results.race import in_onnxruntime, race

    feeds = _models.feeds(onnx.load(model), model.stem)
    timed = {name: in_onnxruntime(path, feeds, 1) for name, path in {"original": model, "again": model, **written}.items()}
    samples = race(timed, 201, seconds, seed)
    ratio = {name: statistics.median(a / b for a, b in zip(values, samples["original"])) for name, values in samples.items()}
    return ratio, abs(ratio["again"] - 1), len(samples["original"])


def measure(args, model, seconds, seed):
    with tempfile.TemporaryDirectory() as scratch:
        found = {(method, s): optimise(args, model, method, s, seed, pathlib.Path(scratch)) for s in seconds for method in args.methods}
        written = {run: path for run, (_, path) in found.items() if path is not None}
        if args.race_s > 0:
            ratio, noise, rounds = raced(model, written, args.race_s, seed)
        else:
            ratio, noise, rounds = {run: found[run][0]["latency"]["ratio"] for run in written}, 0.0, 0
    for (method, s), (reported, _) in found.items():
        stated = reported["learned"] or {}
        timed = stated.get("timed", [])
        yield {"model": model.stem, "seed": seed, "method": method, "seconds": s, "took_s": round(reported["seconds"], 2),
               "ratio": round(ratio.get((method, s), 1.0), 5), "noise": round(noise, 5), "rounds": rounds, "timed": len(timed),
               "best_at": stated.get("best_at"), "sum_error_percent": stated.get("sum_error_percent"),
               "residual_error_percent": stated.get("residual_error_percent"), "ended_by": stated.get("ended_by", ""), "times": " ".join(f"{t['ratio']:.5f}" for t in timed)}  # fmt: skip


def files_of(models):
    """Files as they are, names of the corpus by where they lie."""
    known = {}
    if any(not pathlib.Path(m).is_file() for m in models):
        known = {name: path for _, name, path in _models.corpus(fetch=False)}
    missing = [m for m in models if not pathlib.Path(m).is_file() and m not in known]
    if missing:
        raise SystemExit(f"no such file, and not in the corpus: {', '.join(missing)}")
    return [pathlib.Path(m) if pathlib.Path(m).is_file() else pathlib.Path(known[m]) for m in models]


def record(args):
    done = {(row["model"], row["seed"], float(row["seconds"])) for row in rows_in(args.out)}
    fresh = not pathlib.Path(args.out).exists()
    where = {"commit": revision(args.rlgo), "machine": machine()}
    with open(args.out, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if fresh:
            writer.writeheader()
        for model in files_of(args.models):
            for seed in args.seeds.split(","):
                seconds = [s for s in args.seconds if (model.stem, seed, s) not in done]
                if not seconds:
                    continue
                try:
                    rows = [row | where for row in measure(args, model, seconds, seed)]
                except Exception as error:  # of any kind: the other models continue
                    print(f"{model.stem}: {str(error)[:300]}", flush=True)
                    continue
                writer.writerows(rows)
                file.flush()
                print(f"{model.stem}, seed {seed}: " + ", ".join(f"{r['method']} {r['seconds']:g} s {r['ratio']:.3f}" for r in rows) + f" (noise {rows[0]['noise']:.3f})", flush=True)
    return show(args)


def show(args):
    rows = rows_in(args.out)
    tables = {"all": learned.graphs_needed, "formula": learned_prices.in_equal_seconds, "search": learned.in_equal_seconds}
    methods = {row["method"] for row in rows}
    if "formula" in methods:
        methods.discard("search")  # what `formula` is compared with
    for method, table in tables.items():
        if method in methods:
            print("\n".join(table(rows)))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("models", nargs="+")
    recording.add_argument("--rlgo", default=str(ROOT / "build" / "release" / "rlgo"))
    recording.add_argument("--out", default="learned.csv")
    recording.add_argument("--seconds", type=lambda text: [float(s) for s in text.split(",")], default=[60.0])
    recording.add_argument("--race-s", type=float, default=8)
    recording.add_argument("--seeds", default="0")
    recording.add_argument("--methods", default="search,learned", help=f"in this order, of {', '.join(METHODS)}")
    recording.add_argument("--costs", help="folder of measured costs that both start from")
    showing = commands.add_parser("show")
    showing.add_argument("out")
    args = parser.parse_args()
    if args.command == "record":
        args.methods = args.methods.split(",")
        if unknown := [m for m in args.methods if m not in METHODS]:
            parser.error(f"--methods: no method {', '.join(unknown)}; there are {', '.join(METHODS)}")
    return record(args) if args.command == "record" else show(args)


if __name__ == "__main__":
    sys.exit(main())
