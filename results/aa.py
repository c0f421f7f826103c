#!/usr/bin/env python3
"""False positives of `rlgo optimise`'s measurement: two copies of a model against each other, many times.

    results/aa.py [--rlgo build/release/rlgo] [--runs 200] [--threads 1 2] [--graphs NAME,...] [--load NAME] [--out results/aa.csv]

200 measurements each with one thread and with two, on the machine as it is and next to a process that keeps a core busy. Each starts the runtime
four times and more: 800 take about 40 minutes on an idle machine of two cores. --load NAME: what else runs on the machine, in place of idle and busy. Writes a CSV with a line for each, and prints for each of the four how many
were called faster (each one is false: at most 1 % are allowed) or slower. Exit status 1 where more were.
"""
import argparse
import contextlib
import csv
import subprocess
import sys

from rlgo_results.where import machine, revision

BUSY = [sys.executable, "-c", "while True: pass"]


@contextlib.contextmanager
def beside_a_busy_core(busy):
    load = subprocess.Popen(BUSY) if busy else None
    try:
        yield
    finally:
        if load:
            load.kill()
            load.wait()


def campaign(options, threads, load):
    command = [options.rlgo, "bench", "same", "--runs", options.runs, "--threads", threads, "--target", options.target]
    command += ["--graphs", options.graphs] if options.graphs else []
    with beside_a_busy_core(load == "busy"):
        done = subprocess.run([str(c) for c in command], check=True, text=True, stdout=subprocess.PIPE)
    where = {"load": load, "commit": revision(options.rlgo), "machine": machine()}
    return [row | where for row in csv.DictReader(done.stdout.splitlines())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rlgo", default="build/release/rlgo")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--graphs", help="zoo graphs or files, separated by commas")
    parser.add_argument("--load", nargs="+", default=["idle", "busy"])
    parser.add_argument("--target", default="onnxruntime")
    parser.add_argument("--out", default="results/aa.csv")
    options = parser.parse_args()
    rows, bad = [], 0
    for threads in options.threads:
        for load in options.load:
            some = campaign(options, threads, load)
            faster, slower = (sum(row["called"] == word for row in some) for word in ("faster", "slower"))
            print(f"{threads} thread{'s' if threads > 1 else ''}, {load}: {len(some)} measurements, "
                  f"{faster} called faster ({100 * faster / len(some):.1f} %), {slower} called slower", flush=True)
            bad += faster > 0.01 * len(some)
            rows += some
    with open(options.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=["load", *[name for name in rows[0] if name != "load"]])
        writer.writeheader()
        writer.writerows(rows)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
