"""`rlgo optimise --force` on models that NNSmith makes (Liu et al. 2023; it shares no code with rlgo), sizes of two thirds of them opened,
results compared with the originals in ONNX Runtime at two levels of optimisation. Needs RLGO_SETUP_REFERENCES=1 launch/scripts/setup.sh.

    nnsmith_nightly.py [--first SEED] [--count N] [--jobs J] [--until-s S] [--state FILE] [--keep FOLDER]

FILE (CSV) has a line a model: what is in it is not tried again, so the run can be stopped and started again; but for faults of another
revision. By default one a revision of the binary, in the cache. --until-s begins no further model after so many seconds. FOLDER gets the models that fail.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))
import _random_runs as runs  # noqa: E402
from _models import CACHE  # noqa: E402

CACHE = CACHE.parent
COLUMNS = ["seed", "verdict", "operators", "open", "half", "rewrites", "torch", "types", "note", "revision"]
GOOD = ("same", "unusable", "not made")
MAKE_S, TRY_S = 120, 900


def child(script, limit_s, *arguments):
    """(status, standard output and, where it failed, error). Its own process: exporter and runtime may crash."""
    done = subprocess.run([sys.executable, HERE / "nnsmith" / script, *map(str, arguments)], capture_output=True, text=True, timeout=limit_s)
    return done.returncode, done.stdout if done.returncode == 0 else (done.stdout + done.stderr).strip()[-300:]


def try_seed(seed, cache, keep):
    with tempfile.TemporaryDirectory() as folder:
        try:
            status, printed = child("make_model.py", MAKE_S, folder, seed, cache)
        except subprocess.TimeoutExpired:
            status, printed = 1, f"not made after {MAKE_S} s"
        if status != 0:
            return {"verdict": "not made", "note": printed}
        status, printed = child("try_model.py", TRY_S, folder, *([seed] if seed % 3 else []))
        row = json.loads(printed.splitlines()[-1]) if status == 0 else {"verdict": "runtime", "note": f"status {status}: {printed}"}
        if row["verdict"] not in GOOD and keep:
            shutil.copytree(folder, pathlib.Path(keep) / str(seed), dirs_exist_ok=True)
    return row | {"types": " ".join(row.get("types", []))}


def rows_in(path):
    return list(csv.DictReader(open(path, encoding="utf-8"))) if path.exists() else []


def summary(rows):
    counts = collections.Counter(r["verdict"] for r in rows)
    types = {t for r in rows for t in r["types"].split()}
    tried = len(rows) - counts["unusable"] - counts["not made"]
    return f"{tried} models of {len(types)} operator types ({sum(int(r['open'] or 0) > 0 for r in rows)} with open sizes, {sum(int(r['rewrites'] or 0) > 0 for r in rows)} with rewrites), by verdict: {dict(counts)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--until-s", type=float, default=6000)
    parser.add_argument("--state", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    if not runs.RLGO.is_file() or not (CACHE / "references/nnsmith").is_dir():
        print("skipped: rlgo is not built, or RLGO_SETUP_REFERENCES=1 launch/scripts/setup.sh has not run")
        return 77
    version = subprocess.run([runs.RLGO, "--version"], capture_output=True, text=True, check=True).stdout
    revision = version.strip().rpartition("(")[2].rstrip(")")
    cache = CACHE / "nnsmith"
    cache.mkdir(exist_ok=True)
    state = args.state or cache / f"nightly-{revision}.csv"
    kept = [r for r in rows_in(state) if r["verdict"] in GOOD or r["revision"] == revision]
    done = {int(r["seed"]) for r in kept}
    left, start = [s for s in range(args.first, args.first + args.count) if s not in done], time.monotonic()
    with open(state, "w", newline="", encoding="utf-8") as out, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
        out.flush()
        in_time = lambda seed: try_seed(seed, cache, args.keep) if time.monotonic() - start < args.until_s else None
        for seed, row in zip(left, pool.map(in_time, left)):
            if row is None:
                continue
            writer.writerow(row | {"seed": seed, "revision": revision})
            out.flush()
            if row["verdict"] not in GOOD:
                print(f"{row['verdict']} seed {seed}: {row['note']}", flush=True)
    rows = [r for r in rows_in(state) if args.first <= int(r["seed"]) < args.first + args.count]
    print(f"{state}: {summary(rows)}; {args.count - len(rows)} are left for the next call")
    return 1 if any(r["verdict"] not in GOOD for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
