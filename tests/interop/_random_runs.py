"""`rlgo optimise` on random models (_random_models.py, _typed_models.py: a generator has build, save, sizes_of, feeds): the exit status, what the result declares, and what it computes in
ONNX Runtime at several sizes, against the original without any graph optimisation."""
import collections
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

import _random_models
from _sessions import session

RLGO = pathlib.Path(os.environ.get("RLGO_BINARY") or pathlib.Path(__file__).parents[2] / "build" / "release" / "rlgo")
LIMIT_S = 400  # a run of 2 s that has not ended by then hangs, also on a busy machine
TOLERANCE = {"float16": 4e-2, "float32": 2e-3}
NOISE = {"float16": 2e-3, "float32": 1e-5}  # of inputs: what such noise moves by more than the tolerance is decided by rounding


def value(v):
    return v.name, v.type.SerializeToString(), v.doc_string


def declarations(model):
    """What must be the same in the result."""
    graph = model.graph
    entries = [value(v) for v in graph.input], [value(v) for v in graph.output]
    return {"inputs": entries[0], "outputs": entries[1], "operator sets": sorted((o.domain, o.version) for o in model.opset_import),
            "version": (model.ir_version, model.model_version), "producer": (model.producer_name, model.producer_version, model.domain),
            "metadata": [(p.key, p.value) for p in model.metadata_props], "docs": (model.doc_string, graph.doc_string), "graph": graph.name}


def wide(array):
    return np.asarray(array).astype(np.float64)


def error_of(a, b):
    """Relative to the largest element; infinite where shapes, types, whole numbers or the places of what is no number differ."""
    if isinstance(a, list):
        return max((error_of(x, y) for x, y in zip(a, b, strict=True)), default=0.0)
    if a is None or a.shape != b.shape or a.dtype != b.dtype:
        return 0.0 if a is b else np.inf
    if a.dtype.kind in "OSUb" or a.dtype.kind in "iu":
        return 0.0 if np.array_equal(a, b) else np.inf
    x, y = wide(a), wide(b)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if same.all():
        return 0.0
    finite = np.isfinite(x)
    if not np.isfinite(y[finite & ~same]).all() or not np.isfinite(x[~same]).all():
        return np.inf
    return float(np.abs(x - y, where=~same, out=np.zeros_like(x)).max() / max(np.abs(x[finite]).max(initial=0), 1e-3))


def runs(model, path, seed, generator=_random_models):
    """[(feeds, outputs)] of the original, at the sizes with which it runs; None where ONNX Runtime does not load it."""
    try:
        session(path)
    except Exception:  # what ONNX Runtime raises has no common class
        return None
    found = []
    for sizes in generator.sizes_of(model, seed):
        feeds = generator.feeds(model, sizes, seed)
        try:
            found.append((feeds, session(path).run(None, feeds)))  # random operators continue where the last run ended
        except Exception:
            continue
    return found


def is_edge(source, feeds, outputs, k, kind):
    """Whether noise on the inputs changes an output of the original as much as what is wrong: a comparison on its edge."""
    rng = np.random.default_rng(0)
    for _ in range(8):
        noisy = {n: (x * (1 + NOISE[kind] * rng.standard_normal(x.shape))).astype(x.dtype) if x.dtype.kind == "f" else x for n, x in feeds.items()}
        if error_of(outputs[k], session(source).run(None, noisy)[k]) > TOLERANCE[kind]:
            return True
    return False


def what_differs(model, source, expected, result):
    """What is wrong with the written file, or ""; and the largest error."""
    written = onnx.load(result, load_external_data=False)
    before, after = declarations(model), declarations(written)
    # An output without a shape may get one (ONNX's checker wants it).
    bare = {v.name for v in model.graph.output if not v.type.tensor_type.HasField("shape")}
    for entries in (before, after):
        entries["outputs"] = [(v[0], bare & {v[0]} or v[1], v[2]) for v in entries["outputs"]]
    for what in before:
        if before[what] != after[what]:
            return f"{what}: {before[what]} became {after[what]}"[:600], 0.0
    narrow = onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16
    casts = [a.i for n in model.graph.node if n.op_type == "Cast" for a in n.attribute if a.name == "to"]
    kind = "float16" if any(t in narrow for t in [v.type.tensor_type.elem_type for v in model.graph.input] + casts) else "float32"
    try:
        session(result)
    except Exception as error:
        return f"the result is not loaded: {str(error)[:300]}", 0.0
    worst = 0.0
    for feeds, outputs in expected:
        shapes = {k: v.shape for k, v in feeds.items()}
        try:
            found = session(result).run(None, feeds)
        except Exception as error:
            return f"{shapes}: the result does not run: {str(error)[:300]}", worst
        for k, (o, a, b) in enumerate(zip(model.graph.output, outputs, found, strict=True)):
            one = error_of(a, b)
            if one > TOLERANCE[kind] and is_edge(source, feeds, outputs, k, kind):
                continue
            worst = max(worst, one)
            if one > TOLERANCE[kind]:
                return f"{shapes}, output {o.name}: error {one:.2g}", worst
    return "", worst


def small_sizes(model, seed):
    """`--size` for each open dimension, by its name or its place."""
    rng = np.random.default_rng([seed, 5])
    keys = dict.fromkeys(d.dim_param or f"{v.name}:{k}" for v in model.graph.input for k, d in enumerate(v.type.tensor_type.shape.dim) if not d.HasField("dim_value"))
    return [word for key in keys for word in ("--size", f"{key}={rng.integers(9, 23)}")]


def try_one(seed, options, seconds="2", folder=None, generator=_random_models):
    """(verdict, description, note): verdict "0", "3", "not run" (ONNX Runtime does not take the original) or "FAIL"."""
    model, text = generator.build(seed)
    with tempfile.TemporaryDirectory() as own:
        place = pathlib.Path(folder or own)
        source, target = place / "model.onnx", place / "out.onnx"
        generator.save(model, source, seed)
        expected = runs(model, source, seed, generator)
        if not expected:
            return "not run", text, ""
        if seed % 2 == 0:  # the others find sizes by themselves
            options = [*options, *small_sizes(model, seed)]
        command = [RLGO, "optimise", source, "-o", target, "--force", "--seconds", seconds, "--switches", "no", "--cost.folder", place, *options]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return "FAIL", text, f"not ended after {LIMIT_S} s"
        printed = (done.stdout + done.stderr).strip()
        if done.returncode not in (0, 3):
            return "FAIL", text, f"status {done.returncode}: {printed[-600:]}"
        if not target.exists():
            return "nothing written", text, printed[-600:]
        wrong, worst = what_differs(onnx.load(source, load_external_data=False), source, expected, target)
        return ("FAIL" if wrong else str(done.returncode)), text, wrong or f"{worst:.1e} {printed.splitlines()[0] if printed else ''}"


def campaign(seeds, options, verbose=False, seconds="2", generator=_random_models):
    """Counts by verdict, and the failures."""
    counts, failures = collections.Counter(), []
    for seed in seeds:
        verdict, text, note = try_one(seed, options, seconds, generator=generator)
        counts[verdict] += 1
        if verdict in ("FAIL", "nothing written") or verbose:
            print(f"{verdict} seed {seed} ({text}): {note}", flush=True)
        if verdict == "FAIL":
            failures.append(seed)
    return counts, failures


if __name__ == "__main__":
    name, first, last, *rest = sys.argv[1:]
    print(campaign(range(int(first), int(last)), rest, verbose=True, generator=importlib.import_module(name)))
