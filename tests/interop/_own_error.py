"""How far rounding alone moves the outputs of a model in ONNX Runtime, element by element: without graph optimisation and with all of it, and
with noise of one unit in the last place after each operator that depends on an input (stochastic arithmetic, Vignes 2004). Another file
computes the same where no element differs by more than a tolerance and several times of that. Shares no code with rlgo's own checks."""
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from _sessions import random_seeds, session

LEVELS = {"disabled": ort.GraphOptimizationLevel.ORT_DISABLE_ALL, "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL}
TYPES = {TensorProto.FLOAT16: np.float16, TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64}
TOLERANCE = {TensorProto.BFLOAT16: 0.1, TensorProto.FLOAT16: 0.02, TensorProto.FLOAT: 1e-4, TensorProto.DOUBLE: 1e-4}  # of an element's scale
FACTOR = 8  # times what rounding moves the original by
MOST_BYTES = 1 << 26  # of a model to which noise is added


def types_of(model):
    """Of the values that shape inference knows."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    known = {v.name: v.type.tensor_type.elem_type for v in [*graph.input, *graph.value_info, *graph.output]}
    return known | {i.name: i.data_type for i in graph.initializer}


def tolerance_of(model):
    """By the narrowest floating type in it."""
    return max(TOLERANCE.get(t, 0) for t in [*types_of(model).values(), TensorProto.DOUBLE])


def with_noise(model, types, seed):
    """Each floating output of an operator that depends on an input is multiplied by 1, or by one of its neighbours."""
    rng, noisy = np.random.default_rng(seed), onnx.ModelProto()
    noisy.CopyFrom(model)
    del noisy.graph.node[:], noisy.graph.value_info[:]
    moving = {v.name for v in model.graph.input} - {i.name for i in model.graph.initializer}
    for node in model.graph.node:
        noisy.graph.node.append(node)
        bodies = any(a.HasField("g") for a in node.attribute)
        if not bodies and not moving.intersection(node.input):
            continue
        moving.update(node.output)
        copy = noisy.graph.node[-1]
        for k, name in enumerate(node.output):
            if not name or types.get(name) not in TYPES:
                continue
            one = TYPES[types[name]](1)
            factor = np.nextafter(one, one + rng.integers(-1, 2).astype(one.dtype))
            copy.output[k] = f"{name}/exact"
            noisy.graph.initializer.append(numpy_helper.from_array(np.asarray(factor), f"{name}/noise"))
            noisy.graph.node.append(helper.make_node("Mul", [copy.output[k], f"{name}/noise"], [name]))
    return noisy


def wide(value):
    return np.asarray(value).astype(np.float64)


class OwnError:
    """Of the model in a file. Raises what ONNX Runtime raises where it does not load it."""

    def __init__(self, path, rounds=8):
        self.model = onnx.load(path)
        self.tolerance = tolerance_of(self.model)
        self.sessions = {name: session(path, level) for name, level in LEVELS.items()}
        self.noisy = self.noisy_sessions(rounds) if self.model.ByteSize() < MOST_BYTES else []

    def noisy_sessions(self, rounds):
        types, found = types_of(self.model), []
        random_seeds.add_seeds(self.model)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "noisy.onnx"
            for seed in range(rounds):
                onnx.save(with_noise(self.model, types, seed), path)
                try:
                    found.append(session(path))
                except Exception:  # no kernel for this type: the levels alone tell
                    return []
        return found

    def outputs(self, feeds):
        """({level: outputs}, [how far each element moves, or None where it is no number that moves])."""
        by_level = {name: one.run(None, feeds) for name, one in self.sessions.items()}
        first = by_level["disabled"]
        moved = [np.zeros(a.shape) if isinstance(a, np.ndarray) and a.dtype.kind in "biuf" else None for a in first]
        runs = [by_level["all"]]
        for one in self.noisy:
            try:
                runs.append(one.run(None, feeds))
            except Exception:  # a size that noise decided
                continue
        for k, a in enumerate(first):
            for other in runs:
                if moved[k] is None or other[k].shape != a.shape:
                    continue
                x, y = wide(a), wide(other[k])
                with np.errstate(invalid="ignore"):
                    far = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0, np.abs(x - y))
                moved[k] = np.maximum(moved[k], np.nan_to_num(far, nan=np.inf))
        return by_level, moved

    def what_differs(self, expected, moved, found):
        """(what is wrong, or ""; elements that are not finite in the original and something else in `found`)."""
        undefined = 0
        for name, a, far, b in zip([o.name for o in self.model.graph.output], expected, moved, found, strict=True):
            if far is None:
                if not equal(a, b):
                    return f"{name}: other contents", undefined
                continue
            if a.shape != b.shape or a.dtype != b.dtype:
                return f"{name}: {a.dtype}{list(a.shape)} became {b.dtype}{list(b.shape)}", undefined
            x, y = wide(a), wide(b)
            finite = np.isfinite(x)
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            undefined += int((~finite & ~same).sum())
            scale = np.maximum(np.abs(x), np.median(np.abs(x[finite])) if finite.any() else 0)
            allowed = FACTOR * far + (self.tolerance * scale if a.dtype.kind == "f" else 0)
            with np.errstate(invalid="ignore"):
                wrong = finite & ~same & ~(np.abs(x - y) <= allowed)
            if wrong.any():
                place = tuple(int(i) for i in np.argwhere(wrong)[0])
                return f"{name}{list(place)}: {x[place]:.9g} became {y[place]:.9g}; rounding moves it by {far[place]:.2g}; {int(wrong.sum())} of {wrong.size} elements", undefined
        return "", undefined


def equal(a, b):
    """Of strings, sequences and optionals."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype.kind in "fc":
        return a.shape == b.shape and np.allclose(a, b, rtol=1e-4, equal_nan=True)
    return np.array_equal(a, b)
