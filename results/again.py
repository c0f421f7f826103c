#!/usr/bin/env python3
"""Whether "faster" holds in the next process: what `rlgo optimise` ends with status 0 for is raced again in fresh processes.

    results/again.py [--rlgo BINARY] [--seconds 10] [--threads 1] [--busy] [--processes 10] [--out results/again.csv] [MODEL ...]

MODEL is a name of the corpus (tests/interop/_models.py) or a file; none: the corpus as peers.py takes it. Each is optimised as a
user calls it for the first time. What ends with status 0 is raced against its original in ten processes: in each both are loaded
three times, rounds run in random order, and the median of the three median ratios counts. --busy: another process keeps a core
busy all the while, in the search too.

Writes a line for each process (for a model with another status one without a ratio), appended as soon as a model is done; what
is in the file is not run again. --until-s ends a call in time, with status 75 where models are left. Prints how many processes
are above 1.0 (at most 1 % are allowed: exit status 1 where more are) and how many outside the interval that optimise printed.
"""
import argparse
import csv
import json
import multiprocessing
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import onnx
import peers
from aa import beside_a_busy_core
from rlgo_results.recorded import rows_in
from rlgo_results.where import machine, revision

COLUMNS = ["model", "threads", "load", "status", "reported", "reported_low", "reported_high", "process", "ratio", "seconds", "note", "commit", "machine"]
LOADS = 3
ALLOWED = 0.01


def optimised(source, target, args):
    """Exit status of rlgo, and the latency of its report (None: none)."""
    report = pathlib.Path(target).with_suffix(".json")
    name = pathlib.Path(source).stem
    sizes = [part for key, size in peers._models.SIZES.get(name, {}).items() if size > 1 for part in ("--size", f"{key}={size}")]
    command = [args.rlgo, "optimise", source, "-o", target, "--json", report, "--cost.folder", pathlib.Path(target).with_suffix(".costs"), "--seconds", args.seconds,
               "--target", "onnxruntime", "--target.python", sys.executable, "--threads", args.threads, *sizes]
    run = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=20 * args.seconds + 300)
    return run.returncode, json.loads(report.read_text())["latency"] if report.exists() else None


def one_process(variants, feeds, threads, race_s, seed):
    """The median over loads of the median ratio to the original, in this process."""
    ratios = []
    for load in range(LOADS):
        samples = peers.samples_of(variants, feeds, threads, 41, race_s / LOADS, seed + load)
        ratios.append(statistics.median(a / b for a, b in zip(samples["rlgo"], samples["original"])))
    return statistics.median(ratios)


def rows_of(name, source, folder, args):
    target = pathlib.Path(folder) / "faster.onnx"
    begin = time.perf_counter()
    status, document = optimised(source, target, args)
    base = {"model": name, "threads": args.threads, "load": args.load, "status": status, "seconds": round(time.perf_counter() - begin, 1)} | args.where
    if status != 0:
        return [base | {"note": "nothing found" if status == 3 else "failed"}]
    base |= {"reported": round(document["ratio"], 4), "reported_low": round(document["ratio_low"], 4), "reported_high": round(document["ratio_high"], 4)}
    feeds = peers._models.feeds(onnx.load(source), pathlib.Path(source).stem)
    rows = []
    for process in range(args.processes):
        with multiprocessing.get_context("spawn").Pool(1) as fresh:
            ratio = fresh.apply(one_process, ({"original": source, "rlgo": target}, feeds, args.threads, args.race_s, 1000 * process))
        rows.append(base | {"process": process, "ratio": round(ratio, 4)})
    return rows


def reported(rows):
    """What a file says, in one line, and whether that is allowed."""
    raced = [r for r in rows if r["ratio"]]
    above = sum(float(r["ratio"]) > 1 for r in raced)
    outside = sum(not float(r["reported_low"]) <= float(r["ratio"]) <= float(r["reported_high"]) for r in raced)
    return (f"{len({r['model'] for r in rows})} models, {len({r['model'] for r in raced})} of status 0 raced in {len(raced)} processes: "
            f"{above} above 1.0, {outside} outside the interval that was printed"), above <= ALLOWED * len(raced)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--rlgo", default=str(peers.ROOT / "build" / "release" / "rlgo"))
    parser.add_argument("--seconds", type=float, default=10, help="time of each rlgo optimise")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--busy", action="store_true", help="next to a process that keeps a core busy")
    parser.add_argument("--load", help="what else runs on the machine, for the file; by default idle or busy")
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--race-s", type=float, default=3, help="of a process, about")
    parser.add_argument("--out", type=pathlib.Path, default=peers.ROOT / "results" / "again.csv")
    parser.add_argument("--until-s", type=float, default=float("inf"), help="begins no further model after so many seconds")
    args = parser.parse_args()
    args.load = args.load or ("busy" if args.busy else "idle")
    args.where = {"commit": revision(args.rlgo), "machine": machine()}
    done = {r["model"] for r in rows_in(args.out) if (int(r["threads"]), r["load"]) == (args.threads, args.load)}
    left = [m for m in peers.chosen_models(args.models) if m[1] not in done]
    start = time.perf_counter()
    with beside_a_busy_core(args.busy):
        while left and time.perf_counter() - start < args.until_s:
            _, name, path = left.pop(0)
            try:
                with tempfile.TemporaryDirectory() as scratch:
                    rows = rows_of(name, path, scratch, args)
            except Exception as error:  # the original does not run
                print(f"{name}: {str(error)[:150]}", flush=True)
                continue
            is_new = not args.out.exists()
            with open(args.out, "a", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, COLUMNS)
                if is_new:
                    writer.writeheader()
                writer.writerows(rows)
            print(f"{name}: " + (f"{rows[0]['reported']} reported, raced {sorted(r['ratio'] for r in rows)}" if "ratio" in rows[0] else rows[0]["note"]), flush=True)
    line, allowed = reported(rows_in(args.out))
    print(line)
    return 75 if left else 0 if allowed else 1


if __name__ == "__main__":
    sys.exit(main())
