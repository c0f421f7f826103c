#!/usr/bin/env python3
"""The best known graph of each model, cost profile and rule set: results/best-known.tsv, with the traces that make them.

    results/best_known.py update --rlgo build/release/rlgo --folder searches --seconds 15 --jobs 2
    results/best_known.py check --rlgo build/release/rlgo

`update` searches, and takes a trace where it costs less than the one in the table. What it takes was compared with the
unmodified model by `rlgo search --out` (a result that does not compute the same leaves no trace), and costs what the
search said when it is applied again. Searches found in --folder are not made again. The
revision in the table is that of the program that applied the trace. `check` applies every trace again.
Costs are those of the formula (--cost analytic) under a profile of configs/costs, in us; the graphs are the zoo's own.
"""
import argparse
import concurrent.futures
import csv
import datetime
import math
import pathlib
import re
import subprocess
import sys

from rlgo_results.where import revision

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ["graph", "profile", "rules", "rules_hash", "before_us", "after_us", "change_percent", "method", "rewrites", "trace", "revision", "date"]
GRAPHS = ["resnet18", "resnet50", "squeezenet1_1", "inception_v3", "bert", "nasrnn", "nasnet_a", "resnext50", "vgg19", "vit_b16", "gpt2"]


class Refused(Exception):
    """A trace or row that is not what it says; the text says why."""


def call(command, limit_s=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=limit_s)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise Refused(lines[-1] if lines else f"{command[0]} {command[1]} ended with status {done.returncode}")
    return done.stdout


def read(table):
    """{(graph, profile, rules): row}; empty where there is no table yet."""
    if not table.exists():
        return {}
    with open(table, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, delimiter="\t")
        if reader.fieldnames != COLUMNS:
            raise SystemExit(f"{table}: columns {reader.fieldnames}, expected {COLUMNS}")
        rows = list(reader)
    found = {(r["graph"], r["profile"], r["rules"]): r for r in rows}
    if len(found) != len(rows):
        raise SystemExit(f"{table}: two rows of the same graph, profile and rules")
    return found


def write(table, rows):
    part = table.with_suffix(".part")
    with open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows))
    part.rename(table)


def price(rlgo, graph, profile, rules, trace):
    """Applies a trace. Returns the cost before and after, the number of rewrites, the hash of the rules."""
    text = call([rlgo, "replay", "--graph", graph, "--cost", "analytic", "--cost.profile", profile, "--rules", rules, "--trace", trace, "--price-only"])
    cost = re.search(r"^cost +(\S+) us -> (\S+) us$", text, re.M)
    return float(cost[1]), float(cost[2]), int(re.search(r"^(\d+) rewrites: ", text, re.M)[1]), re.search(r"^rules +(\S+)$", text, re.M)[1]


def same(a, b):
    return math.isclose(float(a), float(b), rel_tol=1e-6)


def check_row(rlgo, folder, row):
    """Throws Refused where a row does not hold."""
    before, after, rewrites, rules_hash = price(rlgo, row["graph"], row["profile"], row["rules"], folder / row["trace"])
    other = "" if rules_hash == row["rules_hash"] else f" (the rules changed since: {rules_hash}, not {row['rules_hash']})"
    for name, now in (("before_us", before), ("after_us", after), ("rewrites", rewrites)):
        if not same(row[name], now):
            raise Refused(f"{name} is {now}, the table says {row[name]}{other}")
    if abs(float(row["change_percent"]) - 100 * (after / before - 1)) > 1e-3:
        raise Refused(f"change_percent is {100 * (after / before - 1):.4f}, the table says {row['change_percent']}")


def search(args, profile, graph):
    """Searches, unless that was done before. Returns (method, trace, cost in us that the search stated)."""
    place = args.folder / profile
    trace, table = place / graph / "best.trace", place / f"{graph}.csv"
    if not trace.exists() or not table.exists():
        place.mkdir(parents=True, exist_ok=True)
        call([args.rlgo, "search", "--graph", graph, "--cost", "analytic", "--cost.profile", profile, "--rules", args.rules, "--methods", args.methods,
              "--seconds", args.seconds, "--budget", 10**15, "--seed", args.seed, "--check.repeats", 3, "--out", trace.parent, "--csv", table])  # fmt: skip
        (trace.parent / "best.onnx").unlink()  # weights, which replay makes again
    with open(table, newline="", encoding="utf-8") as file:
        best = min(csv.DictReader(file), key=lambda row: float(row["after_us"]))
    return best["method"], trace, float(best["after_us"])


def candidate(args, profile, graph):
    """The row of a new search's best, and the text of its trace."""
    method, trace, stated = search(args, profile, graph)
    before, after, rewrites, rules_hash = price(args.rlgo, graph, profile, args.rules, trace)
    if not same(after, stated):
        raise Refused(f"its trace costs {after} us, the search said {stated} us")
    row = {"graph": graph, "profile": profile, "rules": args.rules, "rules_hash": rules_hash, "before_us": f"{before:.6f}", "after_us": f"{after:.6f}",
           "change_percent": f"{100 * (after / before - 1):.4f}", "method": method, "rewrites": rewrites, "trace": "",
           "revision": args.revision, "date": args.date}  # fmt: skip
    return row, trace.read_text(encoding="utf-8")


def take(args, profile, graph):
    """What became of one graph and profile: the new row and its trace, or nothing where the old one stays; a line about it."""
    old = args.rows.get((graph, profile, args.rules))
    row, text = candidate(args, profile, graph)
    if old is not None:
        try:
            check_row(args.rlgo, args.table.parent, old)
            if float(row["after_us"]) >= float(old["after_us"]) * (1 - 1e-9):
                return None, text, f"{old['change_percent']} % by {old['method']} stays ({row['change_percent']} % by {row['method']})"
        except Refused as why:
            print(f"{profile} {graph}: the old row no longer holds: {why}", flush=True)
    return row, text, f"{row['change_percent']} % by {row['method']}, {row['rewrites']} rewrites" + (f", was {old['change_percent']} %" if old else "")


def update(args):
    args.rows = read(args.table)
    args.revision = revision(args.rlgo)
    traces = args.table.parent / args.table.stem
    traces.mkdir(parents=True, exist_ok=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        pending = {pool.submit(take, args, p, g): (p, g) for p in args.profiles.split(",") for g in args.graphs.split(",")}
        for future in concurrent.futures.as_completed(pending):
            profile, graph = pending[future]
            try:
                row, text, line = future.result()
            except Refused as why:
                failed += 1
                print(f"{profile} {graph}: {why}", file=sys.stderr)
                continue
            if row is not None:
                name = f"{graph}-{profile}-{args.rules.replace(',', '+').replace('/', '_')}.trace"
                (traces / name).write_text(text, encoding="utf-8")
                row["trace"] = f"{traces.name}/{name}"
                args.rows[graph, profile, args.rules] = row
                write(args.table, args.rows)
            print(f"{profile} {graph}: {line}", flush=True)
    return 1 if failed else 0


def check(args):
    rows = read(args.table)
    if not rows:
        raise SystemExit(f"{args.table}: no rows; make some with update")
    failed = 0
    for (graph, profile, rules), row in sorted(rows.items()):
        try:
            check_row(args.rlgo, args.table.parent, row)
        except Refused as why:
            failed += 1
            print(f"{graph}, {profile}, {rules}: {why}", file=sys.stderr)
    print(f"{len(rows) - failed} of {len(rows)} rows hold")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    updater, checker = commands.add_parser("update"), commands.add_parser("check")
    for command in (updater, checker):
        command.add_argument("--rlgo", default="build/release/rlgo")
        command.add_argument("--table", type=pathlib.Path, default=HERE / "best-known.tsv", help="traces lie next to it in a folder of its name")
    updater.add_argument("--folder", type=pathlib.Path, required=True, help="of the searches; one that was interrupted continues")
    updater.add_argument("--profiles", default="cpu,gpu")
    updater.add_argument("--graphs", default=",".join(GRAPHS), help="of the zoo")
    updater.add_argument("--rules", default="base,runtime,motion")
    updater.add_argument("--methods", default="greedy,taso,window,anneal")
    updater.add_argument("--seconds", type=float, default=15, help="of each method")
    updater.add_argument("--seed", type=int, default=0)
    updater.add_argument("--jobs", type=int, default=1, help="graphs side by side")
    updater.set_defaults(call=update, date=datetime.datetime.now(datetime.timezone.utc).date().isoformat())
    checker.set_defaults(call=check)
    args = parser.parse_args()
    sys.exit(args.call(args))


if __name__ == "__main__":
    main()
