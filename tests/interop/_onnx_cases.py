"""`rlgo optimise` on the models of ONNX's own tests (onnx/backend/test/data of the PyPI package onnx: each operator in each of its
forms, types and versions, alone, and expanded where it is a function), with the inputs that stand next to them. ONNX Runtime says
what is right, without graph optimisation; where it has no kernel, ONNX's reference evaluator does, for original and result."""
import collections
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

import _random_runs as runs

DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data"
FOLDERS = "node", "simple", "pytorch-converted", "pytorch-operator"


def cases():
    """Folders with a model.onnx, in one order everywhere."""
    return sorted(path.parent for folder in FOLDERS for path in (DATA / folder).glob("*/model.onnx"))


def read(path, declared):
    kind = declared.type.WhichOneof("value")
    proto = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}.get(kind, onnx.TensorProto)()
    proto.ParseFromString(path.read_bytes())
    return {"sequence_type": numpy_helper.to_list, "optional_type": numpy_helper.to_optional}.get(kind, numpy_helper.to_array)(proto)


def feeds_of(case, model):
    for folder in sorted(case.glob("test_data_set_*")):
        files = sorted(folder.glob("input_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
        yield {v.name: read(path, v) for v, path in zip(model.graph.input, files)}  # the last inputs may have none


def runner(path, reference):
    return ReferenceEvaluator(str(path)) if reference else runs.session(path)


def expected_of(case, model):
    """(by the reference evaluator?, [(feeds, outputs)]); ([]) where neither runs it, or what it draws differs from run to run."""
    for reference in (False, True):
        try:
            one, again = (runner(case / "model.onnx", reference) for _ in range(2))
            found = [(feeds, one.run(None, feeds)) for feeds in feeds_of(case, model)]
            repeats = all(same(a, b) for feeds, outputs in found for a, b in zip(outputs, again.run(None, feeds), strict=True))
        except Exception:  # what they raise has no common class
            continue
        if found:
            return reference, found if repeats else []
    return False, []


def same(a, b):
    if isinstance(a, np.ndarray) and a.dtype.kind not in "biufcOSU":  # bfloat16 and the like
        a, b = a.astype(np.float32), np.asarray(b).astype(np.float32)
    return runs.error_of(a, b) <= runs.TOLERANCE["float16" if getattr(a, "dtype", None) == np.float16 else "float32"]


def what_differs(case, model, target):
    before, after = runs.declarations(model), runs.declarations(onnx.load(target))
    changed = [what for what in before if before[what] != after[what] and what != "outputs"]
    if changed or [v[0] for v in before["outputs"]] != [v[0] for v in after["outputs"]]:
        return f"declared otherwise: {changed or 'outputs'}"
    reference, expected = expected_of(case, model)
    for feeds, outputs in expected:
        try:
            found = runner(target, reference).run(None, feeds)
        except Exception as error:
            return f"the result does not run: {str(error)[:300]}"
        for value, a, b in zip(model.graph.output, outputs, found, strict=True):
            if not same(a, b):
                return f"output {value.name} differs"
    return "" if expected else "not run"


def try_one(case, options):
    """(verdict, note): "0", "3", "not run" (nothing runs the original, or not the same twice), "nothing written" (the target does not) or "FAIL"."""
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "out.onnx"
        command = [runs.RLGO, "optimise", case / "model.onnx", "-o", target, "--force", "--seconds", "1", "--switches", "no", "--cost.folder", folder, *options]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=runs.LIMIT_S)
        except subprocess.TimeoutExpired:
            return "FAIL", f"not ended after {runs.LIMIT_S} s"
        printed = (done.stdout + done.stderr).strip()[-500:]
        if done.returncode not in (0, 3):
            return "FAIL", f"status {done.returncode}: {printed}"
        if not target.exists():
            return "nothing written", printed
        note = what_differs(case, onnx.load(case / "model.onnx"), target)
        return (str(done.returncode) if not note else note if note == "not run" else "FAIL"), note


def campaign(which, options):
    """Counts by verdict, and the names of those that fail."""
    counts, failed = collections.Counter(), []
    for case in which:
        verdict, note = try_one(case, options)
        counts[verdict] += 1
        if verdict == "FAIL":
            failed.append(case.name)
            print(f"FAIL {case.name}: {note}", flush=True)
    return counts, failed
