#!/usr/bin/env python3
"""Learned prices: what groups of operators take under ONNX Runtime, from groups of other models (docs/costs.md).

    results/prices.py time [--rlgo BINARY] [--target onnxruntime] [--seconds 25] [--models FOLDER] [--out groups.tsv]     about 12 minutes, on an idle machine
    results/prices.py fit groups.tsv[.xz] [--trees configs/costs/onnxruntime/MAKER.trees] [--csv results/prices.csv]

`time` makes the models of results/training_models.py (none of them in a table of results/) and runs `rlgo bench groups` on them and on graphs of
the zoo. `fit` fits boosted trees to log(time / price by formula): LightGBM, of launch/requirements-references.txt (RLGO_SETUP_REFERENCES=1 of
set-up). MAKER is that of the processor ("amd"): each has prices of its own. The CSV has a line for each device, each kind of group and all: how
far prices are off for models that nothing was fitted to (folds by model), and how far those of the other makers' trees are. Lines of other
devices stay. results/pages.py makes the table of results/prices.md of it. results/groups/ keeps the times that shipped trees were fitted to, as far
as they are kept (Intel's are not).
"""
import argparse
import csv
import hashlib
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "results"))
sys.path.insert(0, str(ROOT / "tests" / "interop"))
import _models  # noqa: E402
from rlgo_results import boosted_trees  # noqa: E402
from rlgo_results.recorded import rows_in  # noqa: E402
from rlgo_results.where import commit, machine  # noqa: E402

sys.path.append(str(_models.CACHE.parent / "references"))
ZOO = ["bert", "nasrnn", "squeezenet1_1"]
TREES, FOLDS = 400, 7
SETTINGS = {"objective": "huber", "alpha": 0.3, "learning_rate": 0.05, "num_leaves": 31, "min_data_in_leaf": 10, "feature_fraction": 0.6,
            "bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l2": 1.0, "use_missing": False, "verbose": -1, "num_threads": 1, "seed": 0}  # fmt: skip
LEAST_US = 0.05  # nothing is seen of what takes less next to an empty model
FIELDS = ["kind", "groups", "factor_formula", "factor", "factor_others", "weighted_formula", "weighted", "weighted_others", "others", "models", "sha256", "runtime", "device", "commit", "machine"]


def time(args):
    import training_models

    with tempfile.TemporaryDirectory() as scratch:
        files = training_models.make(args.models or pathlib.Path(scratch))
        graphs = ",".join([*map(str, files), *ZOO])
        subprocess.run([args.rlgo, "bench", "groups", "--target", args.target, "--graphs", graphs, "--seconds", str(args.seconds), "--out", args.out], check=True)


class Groups:
    """Rows of `rlgo bench groups`, as they are or compressed (.xz): features X [groups, names], times us [groups], names of models."""

    def __init__(self, path):
        text = (lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()).decode("utf-8")
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.header = dict(line[2:].split(" ", 1) for line in text.splitlines() if line.startswith("# ") and " " in line[2:])
        rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
        rows = [row for row in rows if float(row[1]) >= LEAST_US]
        given = [dict((name, float(x)) for name, x in (item.rsplit("=", 1) for item in row[3:])) for row in rows]
        self.names = sorted({name for row in given for name in row})
        place = {name: k for k, name in enumerate(self.names)}
        self.x = np.zeros((len(rows), len(self.names)))
        for i, row in enumerate(given):
            for name, x in row.items():
                self.x[i, place[name]] = x
        self.us = np.array([float(row[1]) for row in rows])
        self.models = np.array([row[0] for row in rows])
        self.kinds = np.array([next((name[5:] for name in row if name.startswith("head:")), "") for row in given])
        self.target = np.log(self.us) - self.x[:, place["price"]]  # of the trees: log(time / price by formula)


def fitted(groups, which):
    import lightgbm

    return lightgbm.train(SETTINGS, lightgbm.Dataset(groups.x[which], groups.target[which]), TREES)


def held_out(groups):
    """What trees say of each group that were fitted to other models."""
    models = np.random.RandomState(0).permutation(sorted(set(groups.models)))
    out = np.zeros(len(groups.us))
    for fold in range(FOLDS):
        left_out = np.isin(groups.models, models[fold::FOLDS])
        if left_out.any():
            out[left_out] = fitted(groups, ~left_out).predict(groups.x[left_out])
    return out


def scores(groups, stated, others=None):
    """Of the formula, as far as a factor for each model goes, of the trees, and of other devices' trees; as the search uses them: only proportions within a model count."""
    errors = {}
    for name, guess in (("_formula", np.zeros(len(stated))), ("", stated), *([("_others", others)] if others is not None else [])):
        off = guess - groups.target
        for model in set(groups.models):
            off[groups.models == model] -= np.median(off[groups.models == model])
        errors[name] = off
    for kind in ["all", *sorted(set(groups.kinds))]:
        of = np.ones(len(stated), bool) if kind == "all" else groups.kinds == kind
        row = {"kind": kind, "groups": int(of.sum())}
        for suffix, error in errors.items():
            off = error[of]
            row["factor" + suffix] = f"{np.exp(np.median(np.abs(off))):.3f}"
            row["weighted" + suffix] = f"{np.sum(groups.us[of] * np.abs(np.expm1(off))) / groups.us[of].sum():.3f}"
        yield row


def text_of(groups, model, score):
    """The file that core/cost/boosted_trees.h reads."""
    yield "# rlgo trees, version 2"
    yield f"# runtime {groups.header['runtime']}"
    yield f"device {groups.header['device']}"
    yield f"# threads {groups.header['threads']}"
    yield f"# made by results/prices.py time, then fit, at {commit()}: {len(groups.us)} groups of {len(set(groups.models))} models"
    yield f"# data sha256 {groups.sha256}"
    yield f"# of models that nothing was fitted to, prices are off by a factor of {score['factor']} in the median (the formula's: {score['factor_formula']})"
    yield from boosted_trees.lines_of(model, groups.names)


def maker(device):
    """As files of trees are named: "Intel(R) Xeon(R) Processor" is "intel"."""
    return re.split(r"[ (]", device)[0].lower() or "unknown"


def of_others(groups, trees):
    """What the trees next to the file `trees` say, their mean, and the names of their devices; (None, "") where there are none."""
    files = [path for path in sorted(trees.parent.glob("*.trees")) if path.name != trees.name]
    if not files:
        return None, ""
    others = [boosted_trees.BoostedTrees(path.read_text(encoding="utf-8")) for path in files]
    return np.mean([one.predict(groups.x, groups.names) for one in others], axis=0), ", ".join(one.device for one in others)


def fit(args):
    groups = Groups(args.groups)
    trees = args.trees or ROOT / "configs" / "costs" / groups.header["runtime"].split()[0] / f"{maker(groups.header['device'])}.trees"
    trees.parent.mkdir(parents=True, exist_ok=True)
    others, devices = of_others(groups, trees)
    where = {"others": devices, "models": len(set(groups.models)), "sha256": groups.sha256, "runtime": groups.header["runtime"], "device": groups.header["device"], "commit": commit(), "machine": machine()}
    rows = list(scores(groups, held_out(groups), others))
    model = fitted(groups, np.ones(len(groups.us), bool))
    trees.write_text("\n".join(text_of(groups, model, rows[0])) + "\n", encoding="utf-8")
    kept = [row for row in rows_in(args.csv) if row["device"] != where["device"]]
    with open(args.csv, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=FIELDS)
        writer.writeheader()
        writer.writerows([*kept, *({**row, **where} for row in rows)])
    print(f"{trees}: factor {rows[0]['factor']} where the formula's is {rows[0]['factor_formula']}, {len(groups.us)} groups")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    one = parts.add_parser("time")
    one.add_argument("--rlgo", default="build/release/rlgo")
    one.add_argument("--target", default="onnxruntime")
    one.add_argument("--seconds", type=float, default=25)
    one.add_argument("--models", type=pathlib.Path)
    one.add_argument("--out", type=pathlib.Path, default=pathlib.Path("groups.tsv"))
    one.set_defaults(run=time)
    one = parts.add_parser("fit")
    one.add_argument("groups", type=pathlib.Path)
    one.add_argument("--trees", type=pathlib.Path, help="default: that of the runtime and of the processor's maker")
    one.add_argument("--csv", type=pathlib.Path, default=ROOT / "results/prices.csv")
    one.set_defaults(run=fit)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
