#!/usr/bin/env python3
"""False positives of `rlgo optimise`'s measurement: two copies of a model against each other, many times.

    results/aa.py [--rlgo build/release/rlgo] [--runs 200] [--out results/aa.csv]

200 measurements each with one thread and with two, on the machine as it is and beside a process that keeps a core busy; on an
idle machine of two cores 800 take about 25 minutes. Writes a CSV with a line for each, and prints for each of the four how many
were called faster (each one is false: at most 1 % are allowed) or slower. Exit status 1 where more were.
"""
import argparse
import csv
import subprocess
import sys

from rlgo_results.where import machine, revision

BUSY = [sys.executable, "-c", "while True: pass"]


def campaign(rlgo, runs, threads, busy, target):
    load = subprocess.Popen(BUSY) if busy else None
    try:
        done = subprocess.run([rlgo, "bench", "same", "--runs", str(runs), "--threads", str(threads), "--target", target],
                              check=True, text=True, stdout=subprocess.PIPE)
    finally:
        if load:
            load.kill()
            load.wait()
    where = {"load": "busy" if busy else "idle", "commit": revision(rlgo), "machine": machine()}
    return [row | where for row in csv.DictReader(done.stdout.splitlines())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rlgo", default="build/release/rlgo")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--target", default="onnxruntime")
    parser.add_argument("--out", default="results/aa.csv")
    options = parser.parse_args()
    rows, bad = [], 0
    for threads in (1, 2):
        for busy in (False, True):
            some = campaign(options.rlgo, options.runs, threads, busy, options.target)
            faster, slower = (sum(row["called"] == word for row in some) for word in ("faster", "slower"))
            print(f"{threads} thread{'s' if threads > 1 else ''}, {'beside a busy core' if busy else 'idle'}: {len(some)} measurements, "
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
