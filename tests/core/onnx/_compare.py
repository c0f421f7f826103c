"""Import and export without rewriting, compared in ONNX Runtime with the original on the same inputs."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "interop"))
from _sessions import session  # noqa: E402

DATA = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"


def test_program():
    build = pathlib.Path(os.environ.get("RLGO_BINARY", "")).parent
    for candidate in (build / "tests" / "test_core_onnx", build / "test_core_onnx"):
        if candidate.is_file():
            return candidate
    print("test_core_onnx is not built: skipped")
    sys.exit(77)


def may_change(path):
    return any(n.op_type in ("ConstantOfShape", "Gemm", "LRN") or (n.op_type in ("LSTM", "GRU", "RNN") and "" in (*n.input[3:4], *n.input[5:])) for n in onnx.load(path, load_external_data=False).graph.node)


def round_trip_all(pairs, opaque=None):
    """[(in, out)] -> {in: None or the error's text}; `opaque` gets how many operators of each stayed so.

    Importing the export must give the same graph again, except that fills come back as numbers.
    """
    lines = "".join(f"{a} {b}\n" for a, b in pairs)
    run = subprocess.run([test_program(), "--roundtrip-list"], input=lines, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0 and not run.stderr, (run.returncode, run.stderr[-2000:])
    results = {}
    for line in run.stdout.splitlines():
        word, path, *rest = line.split(" ", 2)
        results[path] = None if word == "ok" else rest[0]
        if word == "ok" and opaque is not None:
            opaque[path] = int(rest[0].split()[1])
        if word == "ok" and rest[0].endswith("changed") and not may_change(path):
            results[path] = "another import gives another graph"
    return results


def load_value(path, type_proto):
    """A stored tensor; None for what is not a dense tensor."""
    if not type_proto.HasField("tensor_type"):
        return None
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def stored_inputs(folder, model):
    feeds = {}
    initialisers = {i.name for i in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in initialisers]
    for k, value in enumerate(inputs):
        path = folder / f"input_{k}.pb"
        if not path.exists():
            return None
        array = load_value(path, value.type)
        if array is None:
            return None
        feeds[value.name] = array
    return feeds


def random_inputs(model, seed):
    rng = np.random.default_rng(seed)
    feeds = {}
    initialisers = {i.name for i in model.graph.initializer}
    for value in model.graph.input:
        if value.name in initialisers:
            continue
        tensor = value.type.tensor_type
        shape = [d.dim_value or 1 for d in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        feeds[value.name] = rng.standard_normal(shape).astype(dtype)
    return feeds


def differences(expected, found, tolerance):
    """Empty where all outputs agree (NaN equals NaN)."""
    for k, (a, b) in enumerate(zip(expected, found)):
        if isinstance(a, np.ndarray) and a.dtype.kind in "fiub":
            if a.shape != b.shape or a.dtype != b.dtype:
                return f"output {k}: {a.dtype}{a.shape} became {b.dtype}{b.shape}"
            if a.dtype == np.float16:
                tolerance = max(tolerance, 2e-3)
            if a.dtype.kind == "f":
                if not np.allclose(a, b, rtol=tolerance, atol=tolerance * max(1.0, np.nanmax(np.abs(a), initial=0.0, where=np.isfinite(a))), equal_nan=True):
                    return f"output {k}: differs by {np.nanmax(np.abs(a.astype(float) - b.astype(float)))}"
            elif not np.array_equal(a, b):
                return f"output {k}: differs"
        elif repr(a) != repr(b):
            return f"output {k}: differs"
    return ""


def signature(model):
    graph = model.graph
    return ([v.SerializeToString() for v in graph.input], [v.SerializeToString() for v in graph.output],
            sorted((o.domain, o.version) for o in model.opset_import), model.ir_version,
            [(p.key, p.value) for p in model.metadata_props])


def compare(original, exported, feeds, tolerance=1e-5):
    """'same', 'not run: ...' (ONNX Runtime cannot run the original) or 'FAIL: ...'."""
    a, b = onnx.load(original), onnx.load(exported)
    if signature(a) != signature(b):
        return "FAIL: declarations differ"
    if any(n.op_type.startswith(("RandomNormal", "RandomUniform", "Bernoulli", "Multinomial")) for n in a.graph.node):
        return "not run: random"
    if feeds is None:
        return "not run: no dense inputs"
    try:
        expected = session(original).run(None, feeds)
    except Exception as error:  # an operator that this ONNX Runtime lacks
        return f"not run: {str(error)[:80]}"
    try:
        found = session(exported).run(None, feeds)
    except Exception as error:
        return f"FAIL: {str(error)[:300]}"
    text = differences(expected, found, tolerance)
    return f"FAIL: {text}" if text else "same"
