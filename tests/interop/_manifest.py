"""Makes the models of _wide.py, each in a process of its own, and writes what there is into cache/wild/manifest.csv."""
import contextlib
import csv
import fnmatch
import hashlib
import importlib.metadata
import multiprocessing
import os
import pathlib
import sys
import time
import warnings

import numpy as np
import onnx
import onnxruntime as ort

import _models
from _wide import OPSET, RECIPES, Traced

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "results"))
from rlgo_results.halves import LOOKED_AT, half  # noqa: E402

FILE = _models.CACHE / "manifest.csv"
COLUMNS = ["name", "group", "half", "origin", "sha256", "bytes", "operators", "inputs", "run_ms", "result"]
LONGEST_S = 400  # to make one model
LARGEST = 260e6  # bytes of a file
MADE = "made"


def read():
    if not FILE.is_file():
        return {}
    with open(FILE, newline="", encoding="utf-8") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def write(rows):
    part = FILE.with_suffix(".part")
    with open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows[name] for name in sorted(rows))
    os.replace(part, FILE)


def export(traced, target):
    import torch

    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad():
        torch.onnx.export(traced.module, traced.inputs, str(target), input_names=traced.names, opset_version=OPSET, dynamo=False)


def described(path):
    """What the manifest states of a file that runs; raises where it does not."""
    model = onnx.load(path)
    feeds = _models.feeds(model, path.stem)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        found = session.run(None, feeds)
        times.append(time.perf_counter() - begin)
    if not all(np.isfinite(value).all() for value in found if np.asarray(value).dtype.kind == "f"):
        raise ValueError("its outputs are not finite")
    data = path.read_bytes()
    inputs = " ".join(f"{key}={'x'.join(map(str, value.shape))}" for key, value in feeds.items())
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data), "operators": len(model.graph.node), "inputs": inputs, "run_ms": f"{1000 * min(times):.2f}"}


def make_one(name, target, answer):
    """In a process of its own; `answer` gets the line of the manifest, or why there is none."""
    warnings.filterwarnings("ignore")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    part = target.with_name(target.name + ".part")
    try:
        maker = RECIPES[name][2]
        made = maker(part) if maker.__code__.co_argcount else maker()
        if isinstance(made, Traced):
            export(made, part)
        onnx.save(onnx.load(part), target)  # weights inside
        if target.stat().st_size > LARGEST:
            raise ValueError(f"a file of {target.stat().st_size / 1e6:.0f} MB")
        answer.send(described(target) | {"result": MADE})
    except BaseException as error:  # of any kind: it is this model's result
        target.unlink(missing_ok=True)
        answer.send({"result": f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"})
    finally:
        for left in target.parent.glob(part.name + "*"):
            left.unlink()


def origin(packages):
    """Packages with their versions; a package whose archive is read, not installed, stands with its version in the recipe."""
    found = []
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            package = package if "==" in package else f"{package}=={importlib.metadata.version(package)}"
        found.append(package)
    return " ".join(found)


def make_wide(fetch, only=()):
    """Paths of the group's models. With `fetch`, what the manifest does not have yet is made; what failed is tried again only by name."""
    folder = _models.CACHE / "wide"
    folder.mkdir(parents=True, exist_ok=True)
    rows = {name: row for name, row in read().items() if name in RECIPES or row["group"] in LOOKED_AT}
    for name, (family, packages, _) in RECIPES.items():
        target = folder / f"{name}.onnx"
        known = rows.get(name)
        wanted = any(fnmatch.fnmatch(name, pattern) for pattern in only)
        if not fetch or (only and not wanted) or (known and (known["result"] != MADE and not wanted or target.exists())):
            continue
        begin = time.perf_counter()
        ours, theirs = multiprocessing.Pipe(False)
        process = multiprocessing.get_context("fork").Process(target=make_one, args=(name, target, theirs))
        process.start()
        theirs.close()
        found = {"result": f"not made in {LONGEST_S} s"}
        try:
            if ours.poll(LONGEST_S):
                found = ours.recv()
        except EOFError:
            found = {"result": "its process died"}
        process.join(10)
        process.kill()
        rows |= {name: {"name": name, "group": family, "half": half(family, name), "origin": origin(packages), **found}}
        write(rows)
        print(f"  {name}: {found['result']}{', ' + found['run_ms'] + ' ms' if 'run_ms' in found else ''}; {time.perf_counter() - begin:.0f} s", flush=True)
    return [(rows[name]["group"], folder / f"{name}.onnx") for name in RECIPES if name in rows and rows[name]["result"] == MADE and (folder / f"{name}.onnx").exists()]


def describe_others(models):
    """Lines of the manifest for models of the other groups: [(group, name, path)]."""
    rows = read()
    for group, name, path in models:
        if rows.get(name, {}).get("result") != MADE:
            try:
                found = described(path) | {"result": MADE}
            except Exception as error:  # of any kind: it is this model's result
                found = {"result": f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"}
            rows[name] = {"name": name, "group": group, "half": half(group, name), "origin": "", **found}
    write(rows)
