"""Operators over their attributes and opsets: none stays opaque, and what is written computes the same in ONNX Runtime."""
import itertools
import sys
import tempfile

from _compare import compare, round_trip_all
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

X = np.array([[[-100, -2.5, -1, -0.5], [0, 0.5, 1, 1.5]], [[3, 3, -7, 2.5], [20, 88, 100, -0.0]]], np.float32)  # [2,2,4]
POSITIVE = np.abs(X) + np.float32(0.25)
VECTOR = np.array([0.5, -2], np.float32)
LAST = np.array([1, -1, 0.5, 2], np.float32)
NONE = np.array([], np.float32)
AXES = np.array([-1], np.int64)
REDUCTIONS = ("ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")


def cases():
    """(operator, opset, attributes, inputs, {place of an initialiser: contents})"""
    for op in ("Softplus", "Softsign", "Ceil", "Floor", "Sign", "Sin", "Cos", "Elu", "Selu"):
        yield op, 9, {}, [X], {}
    yield "Round", 11, {}, [X], {}
    yield "Elu", 13, {"alpha": 0.3}, [X], {}
    yield "Selu", 13, {"alpha": 1.5, "gamma": 2.0}, [X], {}
    yield "ThresholdedRelu", 10, {"alpha": 1.5}, [X], {}
    for alpha in (2.0, -0.5):
        yield "Celu", 12, {"alpha": alpha}, [X], {}
    yield "Mish", 18, {}, [X], {}
    yield "Swish", 24, {}, [X], {}
    yield "Swish", 24, {"alpha": 0.5}, [X], {}
    yield "Reciprocal", 13, {}, [POSITIVE], {}
    yield "Mod", 10, {"fmod": 1}, [X, POSITIVE], {}
    whole = np.array([7, -7, 7, -7], np.int64), np.array([3, 3, -3, -3], np.int64)
    for fmod, dtype in itertools.product((0, 1), (np.int64, np.int32)):
        yield "Mod", 13, {"fmod": fmod}, [a.astype(dtype) for a in whole], {}
    for opset, axis in itertools.product((11, 13), (None, 0, 1, -1)):
        yield "LogSoftmax", opset, {} if axis is None else {"axis": axis}, [X], {}
    for op in REDUCTIONS:
        x = POSITIVE if op == "ReduceLogSum" else X / np.float32(8)
        yield op, 13, {"keepdims": 0}, [x], {}
        yield op, 13, {"axes": [0, 2]}, [x], {}
        yield op, 18, {"keepdims": 0}, [x], {1: AXES}
    for op, last, keep in itertools.product(("ArgMax", "ArgMin"), (0, 1), (0, 1)):
        yield op, 13, {"axis": -1, "keepdims": keep, "select_last_index": last}, [X], {}
    yield "ArgMax", 11, {}, [X.astype(np.int32)], {}
    yield "InstanceNormalization", 9, {"epsilon": 0.01}, [X, VECTOR, VECTOR], {}
    yield "GroupNormalization", 21, {"num_groups": 1}, [X, VECTOR, VECTOR], {}
    yield "GroupNormalization", 21, {"num_groups": 2}, [X, VECTOR, VECTOR], {}
    yield "RMSNormalization", 23, {}, [X, LAST], {}
    yield "RMSNormalization", 23, {"axis": 1, "epsilon": 0.1}, [X, np.stack([LAST, LAST])], {}
    channels = np.linspace(-40, 40, 84, dtype=np.float32).reshape(2, 7, 3, 2)
    for size in (1, 3, 5, 9):
        yield "LRN", 13, {"size": size, "alpha": 0.02, "bias": 2.0}, [channels], {}
    yield "LRN", 13, {"size": 3, "beta": 0.5}, [channels], {}
    for p, axis in itertools.product((1, 2), (1, -1)):
        yield "LpNormalization", 13, {"p": p, "axis": axis}, [X * (X > 1)], {}
    rng = np.random.default_rng(2)
    q, k = (rng.standard_normal((2, 4, s, 8)).astype(np.float32) for s in (3, 5))
    for attrs in ({}, {"scale": 0.3}, {"is_causal": 1}, {"softcap": 0.7}):
        yield "Attention", 23, attrs, [q, k, k[..., :6]], {}
    yield "Attention", 24, {}, [q, k[:, :2], k[:, :2]], {}
    for shape in ((3, 5), (4, 3, 5), (2, 1, 3, 5)):
        yield "Attention", 23, {"is_causal": 1}, [q, k, k, rng.standard_normal(shape).astype(np.float32)], {}
        yield "Attention", 24, {}, [q, k, k, (rng.random(shape) < 0.7) | np.eye(3, 5, dtype=bool)], {}
    yield "Attention", 23, {"q_num_heads": 4, "kv_num_heads": 2}, [q[:, 0], k[:, 0, :, :4], k[:, 0, :, 4:]], {}
    for (op, gates), directions in itertools.product((("LSTM", 4), ("GRU", 3), ("RNN", 1)), (1, 2)):
        x, w, r, bias, state = (rng.standard_normal(s).astype(np.float32) for s in
                                ((6, 2, 3), (directions, 5 * gates, 3), (directions, 5 * gates, 5), (directions, 10 * gates), (directions, 2, 5)))
        for direction in ("forward", "reverse") if directions == 1 else ("bidirectional",):
            kind = {"hidden_size": 5, "direction": direction}
            yield op, 14, kind, [x], {1: w, 2: r}
            yield op, 9, kind, [x], {1: w, 2: r, 3: bias}
            yield op, 22, kind, [x, None, state] + ([state[:, ::-1].copy()] if gates == 4 else []), {1: w, 2: r, 3: bias}
            yield op, 14, kind, [x, None, None, state], {1: w, 2: r}  # of two states one
            yield op, 14, kind, [x, None], {1: w, 2: r, 4: np.array([6, 6], np.int32)}
            if op == "GRU":
                yield op, 14, {**kind, "linear_before_reset": 1}, [x], {1: w, 2: r, 3: bias}
    a, b = np.split(np.random.default_rng(1).standard_normal((2, 2, 3, 4, 5)).astype(np.float32), 2)
    a, b = a[0], b[0]  # [2,3,4,5]
    for equation in ("abcd,abcd->abcd", "abcd,abed->abce", "abcd,abed", "abcd,abed->abec", "abcd,abcd->", "abcd, abcd -> ca", "abcd,abcd->dab"):
        yield "Einsum", 12, {"equation": equation}, [a, b if "e" not in equation else b.copy()], {}
    yield "Einsum", 12, {"equation": "abc,cde->abde"}, [a[0], b[0].transpose(2, 0, 1)], {}
    yield "Einsum", 12, {"equation": "ab,ca->bc"}, [a[0, 0], b[0, :, :, 0].copy()], {}
    yield "Einsum", 12, {"equation": "a,b->ba"}, [a[0, 0, 0], b[0, 0, :, 0].copy()], {}
    yield "Einsum", 12, {"equation": "ab,b->a"}, [a[0, 0], b[0, 0, 0]], {}
    for equation in ("abcd->db", "abcd", "abcd->"):
        yield "Einsum", 12, {"equation": equation}, [a], {}
    yield "GlobalMaxPool", 9, {}, [a], {}
    yield from index_cases(a)
    yield from cubic_cases(a)
    for repeats in ((1, 1, 1), (2, 1, 1), (1, 3, 1)):
        yield "Tile", 13, {}, [X], {1: np.array(repeats, np.int64)}
    yield "Tile", 9, {}, [X[:, :1]], {1: np.array([1, 3, 1], np.int64)}


def index_cases(a):
    """Of operators that place elements; `a` is [2,3,4,5]."""
    blocks = np.arange(2 * 8 * 2 * 3, dtype=np.float32).reshape(2, 8, 2, 3)
    for opset, attrs in ((9, {}), (13, {"mode": "DCR"}), (13, {"mode": "CRD"})):
        yield "DepthToSpace", opset, {"blocksize": 2, **attrs}, [blocks], {}
    yield "SpaceToDepth", 9, {"blocksize": 2}, [a[:, :, :, :4].copy()], {}
    places = np.array([[1, -3, 0], [2, 0, -1]], np.int64)
    for axis in (0, -1):
        yield "GatherElements", 13, {"axis": axis}, [a[0, :, :3, 0].copy(), places], {}
    yield "GatherND", 13, {}, [a, places[:, :2] // 2], {}
    yield "GatherND", 13, {"batch_dims": 1}, [a, places], {}
    for opset, attrs in ((13, {}), (16, {"reduction": "add"}), (16, {"reduction": "mul"}), (18, {"reduction": "max"}), (18, {"reduction": "min"})):
        yield "ScatterElements", opset, {"axis": 1, **attrs}, [a[0, :, :3, 0].copy(), places, a[1, :2, :3, 1].copy()], {}
        yield "ScatterND", opset, attrs, [a, places[:, :2] // 2, a[0, :2].copy()], {}
    for exclusive, reverse in itertools.product((0, 1), (0, 1)):
        yield "CumSum", 14, {"exclusive": exclusive, "reverse": reverse}, [a], {1: np.array(-2, np.int64)}
    for upper, diagonal in itertools.product((0, 1), (-1, 0, 2)):
        yield "Trilu", 14, {"upper": upper}, [a], {1: np.array(diagonal, np.int64)}
    yield "Trilu", 14, {}, [a], {}
    for axis in (-1, 0, 1):
        yield "OneHot", 11, {"axis": axis}, [places], {1: np.array([4], np.int64), 2: np.array([-1, 2], np.float32)}


def cubic_cases(a):
    """Resize, by scales and by sizes."""
    for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
        for scales in ((1, 1, 2, 2), (1, 1, 1.5, 0.5)):
            yield "Resize", 13, {"mode": "cubic", "coordinate_transformation_mode": coordinates, "cubic_coeff_a": -0.5}, [a], {1: NONE, 2: np.array(scales, np.float32)}
        yield "Resize", 13, {"mode": "cubic", "coordinate_transformation_mode": coordinates}, [a], {1: NONE, 2: NONE, 3: np.array([2, 3, 7, 11], np.int64)}


def model(op, opset, attrs, inputs, constants):
    names = [f"x{k}" for k in range(len(inputs) + len(constants))]
    left_out = [n for n, v in zip([n for k, n in enumerate(names) if k not in constants], inputs) if v is None]
    names = ["" if n in left_out else n for n in names]
    values, inputs = [n for k, n in enumerate(names) if n and k not in constants], [v for v in inputs if v is not None]
    outputs = {"LSTM": ["y", "h", "c"], "GRU": ["y", "h"], "RNN": ["y", "h"]}.get(op, ["y"])
    declared = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                for n, v in zip(values, inputs)]
    kind = TensorProto.INT64 if op.startswith("Arg") else TensorProto.FLOAT if op == "OneHot" else declared[0].type.tensor_type.elem_type
    graph = helper.make_graph([helper.make_node(op, names, outputs, **attrs)], "g", declared,
                              [helper.make_tensor_value_info(y, kind, X.shape if op == "GroupNormalization" else None) for y in outputs],
                              [numpy_helper.from_array(c, names[k]) for k, c in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return onnx.shape_inference.infer_shapes(made), dict(zip(values, inputs))


def main():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        todo = []
        for k, case in enumerate(cases()):
            made, feeds = model(*case)
            onnx.save(made, f"{folder}/{k}.onnx")
            todo.append((case, f"{folder}/{k}.onnx", f"{folder}/{k}.out.onnx", feeds))
        counts = {}
        errors = round_trip_all([(a, b) for _, a, b, _ in todo], counts)
        for case, path, out, feeds in todo:
            result = errors[path] or compare(path, out, feeds)
            if result.startswith("not run") and "GroupNormalization" not in str(case[0]):
                result = f"FAIL: {result}"
            if errors[path] is None and counts[path] != 0:
                result = "FAIL: it stays opaque"
            if errors[path] is not None or result.startswith("FAIL"):
                failures.append(f"{case[0]}, opset {case[1]}, {case[2]}: {result}")
    print("\n".join(failures) or f"{len(todo)} forms of operators: the same")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
