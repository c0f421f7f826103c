"""Optimises models and compares each result with its original in ONNX Runtime, at up to six sets of sizes of open dimensions.

  python3 results/optimise_sizes.py build/release/rlgo MODEL.onnx ... [--seconds 8] [--sizes 6]

Prints a row a model: exit status of `rlgo optimise --force`, seconds, rewrites, at how many sets of sizes the original ran and
the result agreed (models whose dimensions are all fixed: as many sets of inputs), the largest relative error, and what
failed. Exit status 1 where one does not agree or `optimise` ends in anything but 0 or 3.
"""
import argparse
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "interop"))
from _sessions import session  # noqa: E402
from wild import relative_error  # noqa: E402

TOLERANCE = 1e-3  # of the largest number of an output
LIKELY = [64, 48, 320, 512, 576, 224, 16000, 76, 96, 128, 1280, 17600, 32, 100]


def places(model):
    """[(input, dtype, [extent or name])] of the inputs that are no initialisers."""
    initialisers = {i.name for i in model.graph.initializer}
    found = []
    for value in model.graph.input:
        if value.name in initialisers:
            continue
        tensor = value.type.tensor_type
        shape = [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else
                 d.dim_param if d.dim_param not in ("", "?") else f"{value.name}:{axis}" for axis, d in enumerate(tensor.shape.dim)]
        found.append((value.name, np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)), shape))
    return found


def feeds(inputs, sizes, seed, values):
    rng = np.random.default_rng(seed)
    out = {}
    for name, dtype, shape in inputs:
        shape = [sizes.get(n, n) for n in shape]
        if name in values:
            out[name] = np.full(shape, values[name], dtype)
        elif dtype.kind == "f":
            out[name] = rng.standard_normal(shape).astype(dtype)
        else:
            out[name] = rng.integers(0, 2, size=shape).astype(dtype)
    return out


def sets_of_sizes(inputs, reported):
    """Sets of sizes to try: around what rlgo found, then likely ones."""
    names = list(dict.fromkeys(n for _, _, shape in inputs for n in shape if isinstance(n, str)))
    if not names:
        yield from ({} for _ in range(20))
        return
    firsts = {shape[0] for _, _, shape in inputs if shape}
    if reported:
        yield reported
        for batch in (1, 3, 5, 7, 11):
            changed = {n: batch if reported.get(n) == 2 else size for n, size in reported.items()}
            if changed != reported:
                yield changed
        for factor in (2, 3, 5, 10):
            yield {n: size if size == 2 else factor * size for n, size in reported.items()}
    for batch, size, other in itertools.product((1, 2, 3), LIKELY, LIKELY[:5]):
        yield {n: batch if n in firsts else (size if k % 2 else other) for k, n in enumerate(names)}
    for batch, size in itertools.product((1, 2, 3, 5, 7, 13), (1, 2, 3, 31, 37, 61, 127, 331)):
        yield {n: batch if n in firsts else size for n in names}


def compare(before, after, reported, values, wanted):
    inputs, first, second = places(onnx.load(before, load_external_data=False)), *(session(path, ort.GraphOptimizationLevel.ORT_ENABLE_ALL) for path in (before, after))
    ran, agreed, worst, seen, complaint = 0, 0, 0.0, set(), ""
    for number, sizes in enumerate(sets_of_sizes(inputs, reported)):
        key = tuple(sorted(sizes.items())) if sizes else number
        if key in seen:
            continue
        seen.add(key)
        given = feeds(inputs, sizes, number, values)
        try:
            expected = first.run(None, given)
        except Exception:
            continue  # the original does not run there
        ran += 1
        try:
            one = relative_error(expected, second.run(None, given))
        except Exception as e:
            one, complaint = float("inf"), f"at {sizes}: {str(e)[:200]}"
        worst = max(worst, one)
        agreed += one <= TOLERANCE
        if one > TOLERANCE and not complaint:
            complaint = f"at {sizes}: relative error {one:.2g}"
        if ran == wanted:
            break
    return ran, agreed, worst, complaint


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rlgo")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--sizes", type=int, default=6)
    args = parser.parse_args()
    failed = 0
    print("| model | status, s | rewrites | sizes: ran, agreed | largest error | latency, or what is wrong |\n|---|---|---|---|---|---|", flush=True)
    for model in args.models:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.onnx"
            begin = time.monotonic()
            run = subprocess.run([args.rlgo, "optimise", model, "-o", out, "--target", "onnxruntime", "--target.python", sys.executable, "--seconds", str(args.seconds),
                                  "--cost.folder", folder, "--force", "--verbose"], capture_output=True, text=True, timeout=600)
            took = time.monotonic() - begin
            reported = {k: int(v) for k, v in re.findall(r"--(?:size|dim) (\S+)=(\d+)", "".join(re.findall(r"these do: (.*)", run.stdout)))}
            values = {k: float(v) for k, v in re.findall(r"(\S+) = ([\d.]+)", "".join(re.findall(r"inputs +(.*): assumed", run.stdout)))}
            rewrites = "".join(re.findall(r"rules applied +(\d+)", run.stdout))
            latency = "".join(re.findall(r"end to end +([^;\n]*)", run.stdout))[:70]
            ran, agreed, worst, complaint = compare(model, out, reported, values, args.sizes) if out.exists() else (0, 0, 0.0, "nothing is written: " + (re.findall(r"result +(.*)|error: (.*)", run.stdout + run.stderr) or [""])[-1].__str__()[:200])
            failed += bool(complaint) or run.returncode not in (0, 3) or ran == 0
            print(f"| {pathlib.Path(model).stem} | {run.returncode}, {took:.0f} | {rewrites} | {ran}, {agreed} | {worst:.1e} | {complaint or latency} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
