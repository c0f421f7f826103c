#!/usr/bin/env python3
"""How fast the checks in double precision are: rlgo bench verify on four models, with LibTorch in double precision as the reference.

    results/verify.py [--rlgo build/release/rlgo] [--out results/verify.csv] [--rounds 5]

Writes a line of CSV for each model, also for one that was refused, with the reason. One thread; the corpus has the files (tests/interop/_models.py).
Two minutes of an idle machine. results/pages.py makes the table of results/verify.md of the CSV.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from rlgo_results.where import machine, revision

CACHE = pathlib.Path(os.environ.get("RLGO_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rlgo")
MODELS = ["resnet50", "vgg19", "bert", "more/captcha-recognizer__slider.onnx"]  # the last: a detector of 640 x 640
FIELDS = ["model", "operators", "run_s", "reference_s", "ratio", "comparison_s", "comparison_ratio", "refused", "reference", "commit", "machine"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rlgo", default="build/release/rlgo")
    parser.add_argument("--out", default="results/verify.csv")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rlgo = str(pathlib.Path(options.rlgo).resolve())
    wild = CACHE / "wild"
    if missing := [name for name in MODELS if name.endswith(".onnx") and not (wild / name).is_file()]:
        sys.exit(f"{', '.join(missing)}: not in {wild}; tests/interop/_models.py makes the corpus")
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "found.json"
        subprocess.run([rlgo, "bench", "verify", "--target", "libtorch", "--threads", "1", "--graphs", ",".join(MODELS), "--rounds", str(options.rounds), "--json", document], cwd=wild, check=True)
        found = json.loads(document.read_text(encoding="utf-8"))
    where = {"reference": f"{found['target']['runtime']} in double precision", "commit": revision(rlgo), "machine": machine()}
    rows = {row["graph"]: {key: f"{value:.5g}" for key, value in row.items() if key != "graph"} for row in found["models"]}
    rows |= {row["graph"]: {"refused": row["reason"]} for row in found["refused"]}
    with open(options.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=FIELDS)
        writer.writeheader()
        writer.writerows({"model": pathlib.Path(name).stem, **rows[name], **where} for name in MODELS)


if __name__ == "__main__":
    main()
