#!/usr/bin/env python3
"""Cost profiles fitted to this machine, one for each runtime, and how well they price operators that they were not fitted to.

    results/profiles.py [--rlgo build/release/rlgo] [--seconds 180] [--out results/profiles.csv] [--costs configs/costs]

Runs `rlgo bench profile` with one thread under ONNX Runtime and LibTorch, writes FOLDER/cpu-RUNTIME.cost, and a CSV with a line for each kind of
operator. Times count on an idle machine only: about 7 minutes. results/pages.py makes the table of results/profiles.md of the CSV.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

from rlgo_results.where import machine, revision

TARGETS = ["onnxruntime", "libtorch"]
FIELDS = ["target", "kind", "operators", "factor_before", "rank_before", "factor", "rank", "timed", "kept", "runtime", "commit", "machine"]


def fitted(rlgo, target, seconds, costs):
    """Rows, one for each kind of operator; the kind "all" is all of them."""
    with tempfile.TemporaryDirectory() as folder:
        reported = pathlib.Path(folder) / "told.json"
        subprocess.run([rlgo, "bench", "profile", "--target", target, "--seconds", str(seconds), "--out", costs / f"cpu-{target}.cost", "--json", reported], check=True)
        found = json.loads(reported.read_text(encoding="utf-8"))
    where = {"timed": len(found["timed"]), "kept": " ".join(found["kept"]), "runtime": found["target"]["runtime"], "commit": revision(rlgo), "machine": machine()}
    return [{"target": target, "kind": row["kind"], "operators": row["after"]["operators"],
             "factor_before": f"{row['before']['factor']:.3f}", "rank_before": f"{row['before']['rank_correlation']:.3f}",
             "factor": f"{row['after']['factor']:.3f}", "rank": f"{row['after']['rank_correlation']:.3f}", **where} for row in found["kinds"]]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rlgo", default="build/release/rlgo")
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--out", default="results/profiles.csv")
    parser.add_argument("--costs", type=pathlib.Path, default=pathlib.Path("configs/costs"))
    options = parser.parse_args()
    rows = [row for target in TARGETS for row in fitted(options.rlgo, target, options.seconds, options.costs)]
    with open(options.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=FIELDS)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
