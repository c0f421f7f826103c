"""100,000 applications of shipped rules in models with open dimensions (_open_pairs.py); 0 differences.

  python3 open_dims_nightly.py [--applications N] [--seconds S] [--state FILE.json]

continues where the state file says that it was stopped, and prints how often each rule was applied.
"""
import argparse
import json
import pathlib
import sys
import time

import _open_pairs

BATCH = 500


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--applications", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=6600)
    parser.add_argument("--state", type=pathlib.Path)
    options = parser.parse_args()
    counts, first, end = _open_pairs.Counts(), 0, time.monotonic() + options.seconds
    if options.state and options.state.exists():
        state = json.loads(options.state.read_text())
        first = state["first"]
        counts.applied.update(state["applied"])
        counts.nowhere.update(state["nowhere"])
        counts.compared, counts.refused, counts.wrong = state["compared"], state["refused"], state["wrong"]
    while sum(counts.applied.values()) < options.applications and time.monotonic() < end:
        _open_pairs.run_batch(2, first, BATCH, counts)
        first += BATCH
        if options.state:
            options.state.write_text(json.dumps({
                "first": first, "applied": counts.applied, "nowhere": counts.nowhere, "compared": counts.compared,
                "refused": counts.refused, "wrong": counts.wrong}))
    for rule in sorted(set(counts.applied) | set(counts.nowhere)):
        print(f"{rule}\t{counts.applied[rule]}\tno place found {counts.nowhere[rule]} times")
    print(counts.summary())
    if counts.wrong:
        sys.exit(1)


main()
