"""The operators that rlgo must know, one by one, and the odd cases of real files: imported as known, exported without change.

Each row is a model of one or a few operators. Whether rlgo can rewrite all of it is read from the import's report; what it
computes is compared in ONNX Runtime without fusions, before and after. LIST is the list that the project promises; a
name in it without a row fails the test.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from _sessions import session

LIST = """Add Sub Mul Div Pow Sqrt Erf Exp Log Neg Tanh Sigmoid Relu LeakyRelu PRelu Clip HardSigmoid HardSwish Gelu Softmax LayerNormalization
BatchNormalization Conv ConvTranspose Gemm MatMul MaxPool AveragePool GlobalAveragePool ReduceMean ReduceSum ReduceMax Concat Split Slice Gather
Reshape Transpose Squeeze Unsqueeze Flatten Expand Pad Resize Identity Dropout Cast Where Constant ConstantOfShape Shape
Softplus Elu Selu Softsign Ceil Floor Round Sign Sin Cos Reciprocal LogSoftmax""".split()  # further ones: tests/core/onnx/operators.py
F32, F16, I64, I32, BOOL = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL
RNG = np.random.default_rng(0)


def f(*shape):
    return (RNG.standard_normal(shape) * 0.5).astype(np.float32)


def i(*values):
    return np.array(values, np.int64)


def node(op, inputs, outputs="y", **attributes):
    return helper.make_node(op, inputs.split(",") if inputs else [], outputs.split(","), **attributes)


def row(name, nodes, x, weights=None, opset=17, known=True, outputs=("y",), x_type=F32, keeps=None, more=None, names=None):
    """`x`: shape of input x (a str is an open dimension), None for no input; `more`: further inputs {name: (type, shape)};
    `keeps`: operators that stay as they are; `names`: operators that the row stands for (default: all of it)."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    return {"name": name, "nodes": nodes, "inputs": {**({"x": (x_type, x)} if x is not None else {}), **(more or {})}, "weights": weights or {}, "opset": opset,
            "keeps": keeps or ([] if known else sorted({n.op_type for n in nodes})), "outputs": outputs, "names": names or [n.op_type for n in nodes]}


def unary_rows():
    for op in "Sqrt Erf Exp Log Neg Tanh Sigmoid Relu LeakyRelu HardSigmoid HardSwish Identity Abs Softplus Elu Selu Softsign Ceil Floor Round Sign Sin Cos Reciprocal LogSoftmax".split():
        yield row(op, [node("Sigmoid", "x", "p"), node(op, "p")] if op in ("Sqrt", "Log") else node(op, "x"), [2, 3, 4], names=[op])
    yield row("LeakyRelu, alpha", node("LeakyRelu", "x", alpha=0.3), [2, 3])
    for opset in (7, 17):
        yield row(f"PRelu, slopes of channels, opset {opset}", node("PRelu", "x,w"), [2, 3, 4, 4], {"w": f(3, 1, 1)}, opset=opset)
    yield row("PRelu, one slope", node("PRelu", "x,w"), [2, 3, 4], {"w": f(1)})
    yield row("HardSigmoid, alpha and beta", node("HardSigmoid", "x", alpha=0.1, beta=0.4), [2, 3], opset=11)
    for approximate in ("none", "tanh"):
        yield row(f"Gelu, {approximate}", node("Gelu", "x", approximate=approximate), [2, 3], opset=20)
    for opset in (7, 10):
        yield row(f"Clip, attributes, opset {opset}", node("Clip", "x", min=-0.2, max=0.3), [2, 3], opset=opset)
    yield row("Clip, inputs", node("Clip", "x,lo,hi"), [2, 3], {"lo": np.float32(-0.2), "hi": np.float32(0.3)})
    yield row("Clip, only above", node("Clip", "x,,hi"), [2, 3], {"hi": np.float32(0.3)})
    for opset in (7, 10, 12, 13):
        options = {"ratio": 0.4} if opset < 12 else {}
        yield row(f"Dropout, opset {opset}", [node("Dropout", "x", "d", **options), node("Relu", "d")], [2, 3], opset=opset)
    yield row("Cast to half and back", [node("Cast", "x", "h", to=F16), node("Cast", "h", to=F32)], [2, 3])
    yield row("Cast to integer", [node("Cast", "x", "h", to=I32), node("Cast", "h", to=I64)], [2, 3])
    for opset in (7, 12, 13):
        for axis in (1, 2):
            yield row(f"Softmax, opset {opset}, axis {axis}", node("Softmax", "x", axis=axis), [2, 3, 4], opset=opset)


def binary_rows():
    for op in "Add Sub Mul Div Pow".split():
        nodes = [node("Exp", "x", "e"), node(op, "e,w")]
        yield row(f"{op}, broadcast", nodes, [2, 3, 4], {"w": np.abs(f(3, 1)) + 0.5}, names=[op])
        yield row(f"{op}, scalar", nodes, [2, 3], {"w": np.float32(1.5)}, names=[op])
    for op in "Add Sub Mul Div".split():
        yield row(f"{op} of integers", node(op, "x,w"), [2, 3], {"w": i(3, 2, 7)}, x_type=I64)
    yield row("Pow, integer exponent", node("Pow", "x,w"), [2, 3], {"w": i(2)})
    yield row("Pow of two inputs, half precision", [node("Cast", "x", "h", to=F16), node("Mul", "h,h", "s"), node("Cast", "s", to=F32)], [2, 3], names=["Mul"])
    yield row("Where, Equal, And, Not", [node("Greater", "x,w", "a"), node("Not", "a", "b"), node("Where", "b,x,w")], [2, 3], {"w": f(3)})
    yield row("Where on booleans", node("Where", "c,x,z"), [2, 3], more={"c": (BOOL, [2, 1]), "z": (F32, [3])})
    yield row("scalars", [node("Mul", "x,x", "a"), node("Add", "a,x")], [])


def matmul_rows():
    for a, b in (([2, 3], (3, 4)), ([5, 2, 3], (3, 4)), ([2, 2, 2, 3], (2, 2, 3, 4)), ([2, 1, 2, 3], (3, 3, 4)), ([3], (3, 4)), ([2, 3], (3,)), ([3], (3,))):
        yield row(f"MatMul {a} x {list(b)}", node("MatMul", "x,w"), a, {"w": f(*b)})
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        yield row(f"Gemm, transA {a}, transB {b}", node("Gemm", "x,w,b", transA=a, transB=b, alpha=0.5, beta=2.0), [3, 3], {"w": f(3, 3), "b": f(3)})
    yield row("Gemm, bias of a column", node("Gemm", "x,w,b", transB=1), [2, 3], {"w": f(4, 3), "b": f(2, 1)})
    yield row("Gemm, no bias", node("Gemm", "x,w"), [2, 3], {"w": f(3, 4)})


def line_and_volume_rows():
    """Windows along one axis and along three, with sizes that differ."""
    for axes, spatial in ((1, [12]), (3, [5, 6, 7])):
        def some(*values):
            return list(values[:axes])
        x, kernel, name = [2, 4, *spatial], some(3, 2, 1), f"{axes} axes"
        both = some(1, 0, 0) + some(2, 1, 0)
        for what, weight, options in (("plain", (6, 4), {}), ("pads", (6, 4), {"pads": both}), ("strides and dilations", (6, 4), {"strides": some(2, 1, 3), "dilations": some(2, 3, 1), "pads": both}),
                                      ("groups", (6, 2), {"group": 2}), ("depthwise", (8, 1), {"group": 4}), ("SAME_UPPER", (6, 4), {"auto_pad": "SAME_UPPER", "strides": some(2, 2, 1)}),
                                      ("SAME_LOWER", (6, 4), {"auto_pad": "SAME_LOWER"}), ("VALID", (6, 4), {"auto_pad": "VALID"})):
            yield row(f"Conv of {name}, {what}", node("Conv", "x,w,b", **options), x, {"w": f(*weight, *kernel), "b": f(weight[0])})
        for what, options in (("plain", {}), ("strides, output padding", {"strides": some(2, 3, 2), "output_padding": some(1, 2, 0), "pads": some(1, 1, 0) * 2}), ("other pads", {"pads": both, "dilations": some(2, 2, 1)})):
            yield row(f"ConvTranspose of {name}, {what}", node("ConvTranspose", "x,w,b", group=2, **options), x, {"w": f(4, 3, *kernel), "b": f(6)})
        for op in ("MaxPool", "AveragePool"):
            for ceil in (0, 1):
                yield row(f"{op} of {name}, ceil_mode {ceil}", node(op, "x", kernel_shape=some(3, 2, 3), strides=[2] * axes, pads=some(1, 1, 0) + some(1, 0, 0), ceil_mode=ceil), x)
            yield row(f"{op} of {name}, SAME_UPPER", node(op, "x", kernel_shape=kernel, strides=some(2, 2, 2), auto_pad="SAME_UPPER"), x)
        yield row(f"MaxPool of {name}, dilations", node("MaxPool", "x", kernel_shape=some(2, 2, 2), dilations=some(3, 2, 1)), x)
        yield row(f"AveragePool of {name}, padding counts", node("AveragePool", "x", kernel_shape=some(3, 2, 2), pads=both, count_include_pad=1), x)
        yield row(f"GlobalAveragePool of {name}", node("GlobalAveragePool", "x"), x)
        yield row(f"Conv of {name}, open sizes", [node("Conv", "x,w", "a", pads=both), node("MaxPool", "a", kernel_shape=some(2, 2, 2))], ["n", 4, *("lmo"[:axes])], {"w": f(6, 4, *kernel)})


def window_rows():
    image = [2, 4, 9, 8]
    for name, weight, options in (("plain", (6, 4, 3, 3), {}), ("asymmetric pads", (6, 4, 3, 3), {"pads": [0, 1, 2, 1]}), ("strides and dilations", (6, 4, 3, 2), {"strides": [2, 1], "dilations": [2, 3], "pads": [2] * 4}),
                                  ("groups", (6, 2, 3, 3), {"group": 2}), ("depthwise", (8, 1, 3, 3), {"group": 4}), ("SAME_UPPER", (6, 4, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
                                  ("SAME_LOWER", (6, 4, 2, 2), {"auto_pad": "SAME_LOWER", "strides": [1, 1]}), ("VALID", (6, 4, 3, 3), {"auto_pad": "VALID"})):
        yield row(f"Conv, {name}", node("Conv", "x,w,b", **options), image, {"w": f(*weight), "b": f(weight[0])})
    for name, weight, options in (("plain", (4, 5, 3, 3), {}), ("strides, output padding", (4, 5, 3, 3), {"strides": [2, 2], "output_padding": [1, 1], "pads": [1, 1, 1, 1]}), ("groups", (4, 2, 2, 2), {"group": 2, "strides": [2, 2]})):
        yield row(f"ConvTranspose, {name}", node("ConvTranspose", "x,w", **options), image, {"w": f(*weight)})
    for op in ("MaxPool", "AveragePool"):
        for ceil in (0, 1):
            yield row(f"{op}, ceil_mode {ceil}", node(op, "x", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 1], ceil_mode=ceil), image)
        yield row(f"{op}, SAME_UPPER", node(op, "x", kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"), image)
    yield row("MaxPool, dilations", node("MaxPool", "x", kernel_shape=[2, 2], dilations=[2, 2]), image)
    yield row("AveragePool, padding counts", node("AveragePool", "x", kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1), image, opset=11)
    yield row("GlobalAveragePool", node("GlobalAveragePool", "x"), image)
    yield from line_and_volume_rows()
    for opset in (9, 13, 15):
        yield row(f"BatchNormalization, opset {opset}", node("BatchNormalization", "x,s,b,m,v", epsilon=1e-3), image, {"s": f(4), "b": f(4), "m": f(4), "v": np.abs(f(4)) + 1}, opset=opset)
    for axis in (-1, 2):
        yield row(f"LayerNormalization, axis {axis}", node("LayerNormalization", "x,s,b", axis=axis), image, {"s": f(*image[axis:]), "b": f(*image[axis:])})
    for mode, coordinates in (("nearest", "asymmetric"), ("linear", "half_pixel"), ("linear", "align_corners")):
        options = {"mode": mode, "coordinate_transformation_mode": coordinates} | ({"nearest_mode": "floor"} if mode == "nearest" else {})
        yield row(f"Resize, {mode}, {coordinates}", node("Resize", "x,,s", **options), image, {"s": np.array([1, 1, 2, 2], np.float32)}, opset=13)
    yield row("Resize, sizes", node("Resize", "x,,,s", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"), image, {"s": i(2, 4, 18, 16)})


def reduce_rows():
    for op in "ReduceMean ReduceSum ReduceMax".split():
        for opset in (11, 13, 17, 18):
            as_input = opset >= (13 if op == "ReduceSum" else 18)
            for keep in (0, 1):
                made = node(op, "x,a", keepdims=keep) if as_input else node(op, "x", axes=[1, -1], keepdims=keep)
                yield row(f"{op}, opset {opset}, keepdims {keep}", made, [2, 3, 4], {"a": i(1, -1)} if as_input else {}, opset=opset)
        yield row(f"{op} of all", node(op, "x", keepdims=0), [2, 3])


def move_rows():
    yield row("Concat", node("Concat", "x,w,x", axis=-1), [2, 3], {"w": f(2, 1)})
    yield row("Split, attribute", [node("Split", "x", "a,b", axis=1, split=[1, 3]), node("Concat", "b,a", axis=1)], [2, 4], opset=11)
    yield row("Split, input", [node("Split", "x,s", "a,b", axis=1), node("Concat", "b,a", axis=1)], [2, 4], {"s": i(1, 3)})
    yield row("Split, parts", [node("Split", "x", "a,b,c", axis=1, num_outputs=3), node("Concat", "c,b,a", axis=1)], [2, 8], opset=18)
    yield row("Slice, attributes", node("Slice", "x", starts=[1, -2], ends=[3, 9], axes=[0, 1]), [4, 5], opset=9)
    yield row("Slice, inputs with steps", node("Slice", "x,s,e,a,t"), [4, 5], {"s": i(-5, 0), "e": i(4, 2**62), "a": i(1, 0), "t": i(2, 3)})
    yield row("Gather", node("Gather", "x,k", axis=1), [4, 5], {"k": np.array([[3, -1], [0, 0]], np.int64)})
    yield row("Gather of one", node("Gather", "x,k", axis=0), [4, 5], {"k": np.int64(2)})
    yield row("Gather, computed indices", node("Gather", "w,x"), [2, 3], {"w": f(120, 4)}, x_type=I64)
    yield row("Reshape", node("Reshape", "x,s"), [2, 3, 4], {"s": i(0, -1)})
    yield row("Transpose", node("Transpose", "x", perm=[2, 0, 1]), [2, 3, 4])
    yield row("Transpose, default", node("Transpose", "x"), [2, 3, 4])
    yield row("Squeeze, attribute", node("Squeeze", "x", axes=[0]), [1, 3, 1], opset=11)
    yield row("Squeeze, input", node("Squeeze", "x,a"), [1, 3, 1], {"a": i(-1)})
    yield row("Squeeze of all", node("Squeeze", "x"), [1, 3, 1])
    yield row("Unsqueeze, attribute", node("Unsqueeze", "x", axes=[0, 2]), [2, 3], opset=11)
    yield row("Unsqueeze, input", node("Unsqueeze", "x,a"), [2, 3], {"a": i(-1)})
    for axis in (0, 1, 2):
        yield row(f"Flatten, axis {axis}", node("Flatten", "x", axis=axis), [2, 3, 4])
    yield row("Expand", node("Expand", "x,s"), [2, 1, 4], {"s": i(3, 1, 5, 1)})
    yield row("Pad, attribute", node("Pad", "x", pads=[0, 1, 2, 0], value=0.5), [2, 3], opset=9)
    yield row("Pad, inputs", node("Pad", "x,p,v"), [2, 3], {"p": i(0, 1, 2, 0), "v": np.float32(0.5)})
    yield row("Pad, some axes", node("Pad", "x,p,,a"), [2, 3], {"p": i(1, 2), "a": i(1)}, opset=18)
    for name, options in (("value", {"value": numpy_helper.from_array(f(3))}), ("value_float", {"value_float": 0.5}), ("value_ints", {"value_ints": [3, 4, 5]})):
        cast = [node("Cast", "k", "c", to=F32)] if name == "value_ints" else [node("Identity", "k", "c")]
        yield row(f"Constant, {name}", [node("Constant", "", "k", **options), *cast, node("Add", "x,c")], [2, 3])
    yield row("ConstantOfShape", [node("ConstantOfShape", "s", "k", value=numpy_helper.from_array(np.array([2.5], np.float32))), node("Mul", "x,k")], [2, 3], {"s": i(2, 3)})
    yield row("Shape, of a fixed size", [node("Shape", "x", "s"), node("Gather", "s,k", "g"), node("Concat", "g,r", "t", axis=0), node("Reshape", "x,t")], [2, 3, 4], {"k": i(0), "r": i(-1)})
    yield row("Shape, of an open size", [node("Shape", "x", "s"), node("Gather", "s,k", "g"), node("Concat", "g,r", "t", axis=0), node("Reshape", "x,t")], ["n", 3, 4], {"k": i(0), "r": i(-1)})


def odd_rows():
    """Named in the list of what real files hold; some stay as they are, and must still come out as they went in."""
    branch = [helper.make_graph([node(op, "h,w", out)], out, [], [helper.make_tensor_value_info(out, F32, [2, 3])]) for op, out in (("Add", "p"), ("Mul", "q"))]
    yield row("If that captures outer names", [node("Relu", "x", "h"), helper.make_node("If", ["c"], ["z"], then_branch=branch[0], else_branch=branch[1]), node("Neg", "z")],
              [2, 3], {"w": f(3)}, more={"c": (BOOL, [])}, keeps=["If"])
    body = helper.make_graph([node("Add", "v,w", "v_out"), node("Identity", "go", "go_out")], "body",
                             [helper.make_tensor_value_info("n", I64, []), helper.make_tensor_value_info("go", BOOL, []), helper.make_tensor_value_info("v", F32, [2, 3])],
                             [helper.make_tensor_value_info("go_out", BOOL, []), helper.make_tensor_value_info("v_out", F32, [2, 3])])
    yield row("Loop that captures outer names", [node("Relu", "x", "h"), helper.make_node("Loop", ["trips", "", "h"], ["z"], body=body), node("Neg", "z")], [2, 3], {"w": f(3), "trips": np.int64(3)}, keeps=["Loop", "Neg"])
    yield row("an initialiser and an input as outputs", node("Add", "x,w"), [2, 3], {"w": f(2, 3)}, outputs=("y", "w", "x"))
    yield row("one value as two outputs", [node("Relu", "x", "y"), node("Identity", "y", "z")], [2, 3], outputs=("z", "y"))
    yield row("several outputs", [node("Relu", "x"), node("Exp", "y", "z")], [2, 3], outputs=("z", "y"))
    yield row("an open batch", [node("Conv", "x,w", "a", pads=[1] * 4), node("Relu", "a")], ["batch", 3, 8, 8], {"w": f(4, 3, 3, 3)})
    yield row("an empty tensor", node("Concat", "x,w", axis=0), [2, 3], {"w": np.zeros((0, 3), np.float32)})
    for name, op, x, weights, options in (
            ("Conv of four dimensions", "Conv", [1, 1, 2, 2, 2, 2], {"w": f(1, 1, 1, 1, 1, 1)}, {}),
            ("Pad that reflects", "Pad", [4, 5], {"w": i(0, 1, 2, 0)}, {"mode": "reflect"})):
        yield row(name, node(op, ",".join(["x", *weights]), **options), x, weights, known=False)
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        weights = {"w": f(1, 5 * gates, 3), "r": f(1, 5 * gates, 5)}
        yield row(op, [node(op, "x,w,r", "s", hidden_size=5), node("Relu", "s")], [4, 2, 3], weights)
        yield row(f"{op}, an open batch", [node(op, "x,w,r", "s,t", hidden_size=5), node("Add", "s,t")], [4, "batch", 3], weights)
        yield row(f"{op} with clipped gates", node(op, "x,w,r", hidden_size=5, clip=0.5), [4, 2, 3], weights, known=False)
    for name, shape, kind in (("an open batch", ["batch", 2, 3, 4], {}), ("an open length", [2, 2, "length", 4], {"is_causal": 1})):
        yield row(f"Attention, {name}", node("Attention", "x,x,x", **kind), shape, opset=23)
    yield row("Attention with keys of the past", node("Attention", "x,x,x,,w,w", "y,k,v"), [1, 2, 3, 4], {"w": f(1, 2, 2, 4)}, opset=23, known=False)


def rows():
    for make in (unary_rows, binary_rows, matmul_rows, window_rows, reduce_rows, move_rows, odd_rows):
        yield from make()


def build(case):
    inputs = [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in case["inputs"].items()]
    weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in case["weights"].items()]
    graph = helper.make_graph(case["nodes"], "row", inputs, [onnx.ValueInfoProto(name=name) for name in case["outputs"]], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case["opset"])], ir_version=8 if case["opset"] < 20 else 10)
    model.metadata_props.add(key="author", value="somebody")
    known = {v.name: v for v in [*onnx.shape_inference.infer_shapes(model).graph.value_info, *inputs] if v.type.tensor_type.HasField("shape")}
    known |= {w.name: helper.make_tensor_value_info(w.name, w.data_type, list(w.dims)) for w in weights}
    inferred = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.output if v.type.tensor_type.HasField("shape")}
    outputs = [known.get(name) or inferred.get(name) or helper.make_tensor_value_info(name, F32, [2, 3]) for name in case["outputs"]]
    del model.graph.output[:]
    model.graph.output.extend(outputs)
    onnx.checker.check_model(model, full_check=True)
    return model


def feeds(model, open_size=2):
    rng, out = np.random.default_rng(1), {}
    for value in model.graph.input:
        shape = [d.dim_value if d.HasField("dim_value") else open_size for d in value.type.tensor_type.shape.dim]
        kind = value.type.tensor_type.elem_type
        out[value.name] = rng.standard_normal(shape).astype(np.float32) if kind == F32 else rng.integers(0, 2 if kind == BOOL else 100, shape).astype(bool if kind == BOOL else np.int64)
    return out


def run(path, values):
    return session(path).run(None, values)


def declared(model):
    return [[v.SerializeToString() for v in values] for values in (model.graph.input, model.graph.output)] + [[(p.key, p.value) for p in model.metadata_props]]


def complaint(case, program, folder):
    source, target = folder / "in.onnx", folder / "out.onnx"
    model = build(case)
    onnx.save(model, source)
    target.unlink(missing_ok=True)
    done = subprocess.run([program, "--roundtrip", source, target, "--sample-open"], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return done.stdout.strip() + done.stderr.strip()
    kept = re.search(r"kept as they are \(([^)]*)\)", done.stdout)
    kept = sorted(part.split()[0] for part in kept[1].split(", ")) if kept else []
    if kept != case["keeps"]:
        return f"kept as they are: {kept or 'none'}, expected {case['keeps'] or 'none'}"
    if declared(model) != declared(onnx.load(target)):
        return "inputs, outputs or metadata are declared otherwise"
    for open_size in (2, 3):
        values = feeds(model, open_size)
        for name, a, b in zip(case["outputs"], run(source, values), run(target, values), strict=True):
            if a.dtype != b.dtype or a.shape != b.shape or not np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True):
                return f"output {name} differs"
    return ""


def main():
    build_folder = pathlib.Path(os.environ.get("RLGO_BINARY") or pathlib.Path(__file__).parents[2] / "build" / "release" / "rlgo").parent
    program = next((p for p in (build_folder / "tests" / "test_core_onnx", build_folder / "test_core_onnx") if p.is_file()), None)
    if program is None:
        print("test_core_onnx is not built: skipped")
        return 77
    failed, count, covered = [], 0, set()
    with tempfile.TemporaryDirectory() as folder:
        for case in rows():
            count += 1
            why = complaint(case, program, pathlib.Path(folder))
            if why:
                failed.append(f"{case['name']}: {why}")
            elif not case["keeps"]:
                covered |= set(case["names"])
    failed += [f"{op}: no row that shows it" for op in LIST if op not in covered]
    print(*failed, sep="\n")
    print(f"{count} models of single operators, {len(LIST)} operators promised, {len(failed)} fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
