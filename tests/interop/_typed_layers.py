"""More parts of typed random models (_typed_parts.py): layers, quantised operators, strings, subgraphs, local functions, sequences."""
import numpy as np
from onnx import helper, numpy_helper

from _typed_parts import Builder, NothingFits, Value, binary, ends_known, full, is_f32, is_float, is_wide, part, unary

REDUCTIONS = "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp".split()


@part(2)
def reduce(b):
    v = b.pick(lambda v: (is_wide(v) or v.dtype == np.int32) and full(v))
    op = b.one("ReduceSum", "ReduceMax", "ReduceMin") if v.dtype == np.int32 else b.one(*REDUCTIONS)
    axes = sorted({int(k) for k in b.rng.integers(len(v.shape), size=b.one(1, 1, 2))})
    keep = int(b.chance(0.5))
    written = [k - len(v.shape) if b.opset >= 11 and b.chance(0.3) else k for k in axes]
    name = b.axes(op, v.name, written, 13 if op == "ReduceSum" else 18, keepdims=keep)
    b.add(name, v.dtype, [1 if k in axes else d for k, d in enumerate(v.shape) if keep or k not in axes])


@part()
def softmax(b):
    v = b.pick(lambda v: is_wide(v) and full(v))
    b.add(b.node(b.one("Softmax", "LogSoftmax", "Hardmax") if is_f32(v) else "Softmax", [v.name], axis=int(b.rng.integers(len(v.shape)))), v.dtype, v.shape)


@part()
def arg_max(b):
    v = b.pick(lambda v: is_f32(v) and full(v))
    k, keep = int(b.rng.integers(len(v.shape))), int(b.chance(0.5))
    b.add(b.node(b.one("ArgMax", "ArgMin"), [v.name], axis=k, keepdims=keep), np.int64, [1 if i == k else d for i, d in enumerate(v.shape) if keep or i != k])


@part()
def cumulative(b):
    b.since(11)
    v = b.pick(lambda v: v.dtype in (np.float32, np.int64) and len(v.shape) >= 1)
    axis = b.const(np.int64(b.rng.integers(len(v.shape))))
    b.add(b.node("CumSum", [v.name, axis], reverse=int(b.chance(0.3)), exclusive=int(b.chance(0.3))), v.dtype, v.shape)


@part(3)
def matmul(b):
    v = b.pick(lambda v: is_wide(v) and ends_known(v))
    width, m = v.shape[-1], int(b.one(1, 2, 4, 5))
    if b.chance(0.25) and len(v.shape) == 2:
        turned = int(b.chance(0.5))
        bias = [b.const(b.weight(v.dtype, b.one([], [1], [m], [1, m])))] if b.opset < 11 or b.chance(0.7) else []
        w = b.const(b.weight(v.dtype, (m, width) if turned else (width, m)))
        return b.add(b.node("Gemm", [v.name, w, *bias], transB=turned, alpha=float(b.one(1, 0.5, -1)), beta=float(b.one(1, 0, 2))), v.dtype, (v.shape[0], m))
    if b.chance(0.2):
        rank = len(v.shape)
        other = b.node("Transpose", [v.name], perm=[*range(rank - 2), rank - 1, rank - 2])
        return b.add(b.node("MatMul", [v.name, other]), v.dtype, v.shape[:-1] + (v.shape[-2],))
    return b.add(b.node("MatMul", [v.name, b.const(b.weight(v.dtype, (width, m)))]), v.dtype, v.shape[:-1] + (m,))


def is_image(v):
    return is_f32(v) and len(v.shape) in (3, 4) and isinstance(v.shape[1], int) and 0 < v.shape[1] <= 12 and 0 not in v.shape


@part(3)
def conv(b):
    v = b.pick(is_image)
    dims, channels, k = len(v.shape) - 2, v.shape[1], int(b.one(1, 3))
    group = b.one(1, 1, channels)
    m = channels * b.one(1, 2) if group == channels else b.one(2, 4)
    w = b.weight(v.dtype, (m, channels // group) + (k,) * dims) * np.float32(0.3)
    bias = [b.const(b.weight(v.dtype, (m,)))] if b.chance(0.5) else b.one([], [""])
    y, shape = b.node("Conv", [v.name, b.const(w), *bias], group=group, pads=[k // 2] * 2 * dims), (v.shape[0], m) + v.shape[2:]
    if b.chance(0.5):
        b.add(y, v.dtype, shape)
        scale = [b.const(b.weight(v.dtype, (m,))) for _ in range(3)]
        y = b.node("BatchNormalization", [y, *scale, b.const(np.abs(b.rng.standard_normal(m)).astype(v.dtype) + np.float32(0.1))], epsilon=float(b.one(1e-5, 1e-3)))
    b.add(y, v.dtype, shape)


@part()
def pool(b):
    v = b.pick(is_image)
    dims = len(v.shape) - 2
    op = b.one("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool")
    if op.startswith("Global"):
        return b.add(b.node(op, [v.name]), v.dtype, v.shape[:2] + (1,) * dims)
    extra = {"count_include_pad": int(b.chance(0.5))} if op == "AveragePool" else {}
    return b.add(b.node(op, [v.name], kernel_shape=[3] * dims, pads=[1] * 2 * dims, **extra), v.dtype, v.shape)


@part()
def layer_norm(b):
    v = b.pick(lambda v: is_f32(v) and ends_known(v))
    c, last = v.shape[-1], [len(v.shape) - 1]
    if b.opset >= 17 and b.chance(0.5):
        bias = [b.const(b.weight(v.dtype, (c,)))] if b.chance(0.6) else []
        return b.add(b.node("LayerNormalization", [v.name, b.const(b.weight(v.dtype, (c,))), *bias], axis=-1), v.dtype, v.shape)
    d = b.node("Sub", [v.name, b.axes("ReduceMean", v.name, last, 18, keepdims=1)])
    variance = b.axes("ReduceMean", b.node("Mul", [d, d]), last, 18, keepdims=1)
    y = b.node("Div", [d, b.node("Sqrt", [b.node("Add", [variance, b.const(np.array(1e-2, v.dtype))])])])
    return b.add(y, v.dtype, v.shape)


@part()
def einsum(b):
    b.since(12)
    v = b.pick(lambda v: is_f32(v) and len(v.shape) == 3 and ends_known(v))
    b.add(b.node("Einsum", [v.name, b.const(b.weight(v.dtype, (v.shape[2], 3)))], equation="abc,cd->abd"), v.dtype, v.shape[:2] + (3,))


@part()
def dropout(b):
    """At inference; with its mask, or an output of an empty name in its place."""
    v = b.pick(is_float)
    b.since(12)
    y = b.name()
    b.nodes.append(helper.make_node("Dropout", [v.name, *b.one([], [""], [b.const(np.float32(0.5))])], [y, *b.one([], [""], [b.name()])]))
    b.add(y, v.dtype, v.shape)


def scale_and_zero(b, t):
    return [b.const(np.float32(b.one(0.05, 0.125))), b.const(t(b.one(0, 3)))]


@part()
def quantised(b):
    """QuantizeLinear and back, the integers in use between them; the zero point may be left out."""
    b.since(13)
    v, t = b.pick(is_f32), b.one(np.int8, np.uint8)
    parameters = scale_and_zero(b, t)
    if t == np.uint8 and b.chance(0.3):
        parameters.pop()
    q = b.node("QuantizeLinear", [v.name, *parameters])
    if b.chance(0.3):
        b.add(q, t, v.shape)
    b.add(b.node("DequantizeLinear", [q, *parameters]), np.float32, v.shape)


@part()
def integer_matmul(b):
    """QLinearMatMul, MatMulInteger or QDQ around a product."""
    b.since(13)
    v = b.pick(lambda v: is_f32(v) and ends_known(v))
    w = b.const(b.rng.integers(-20, 20, (v.shape[-1], 4)).astype(np.int8))
    x, y = scale_and_zero(b, np.uint8), scale_and_zero(b, np.uint8)
    ws = [b.const(np.float32(0.02)), b.const(np.int8(0))]
    q, shape = b.node("QuantizeLinear", [v.name, *x]), v.shape[:-1] + (4,)
    form = b.one("linear", "integer", "qdq")
    if form == "linear":
        b.add(b.node("DequantizeLinear", [b.node("QLinearMatMul", [q, *x, w, *ws, *y]), *y]), np.float32, shape)
    elif form == "integer":
        b.add(b.node("MatMulInteger", [q, w, *b.one([], [x[1]], [x[1], ws[1]])]), np.int32, shape)
    else:
        b.add(b.node("MatMul", [b.node("DequantizeLinear", [q, *x]), b.node("DequantizeLinear", [w, *ws])]), np.float32, shape)


@part()
def integer_conv(b):
    b.since(13)
    v = b.pick(lambda v: is_image(v) and len(v.shape) == 4)
    x, y, ws = scale_and_zero(b, np.uint8), scale_and_zero(b, np.uint8), [b.const(np.float32(0.02)), b.const(np.int8(0))]
    w = b.const(b.rng.integers(-20, 20, (4, v.shape[1], 1, 1)).astype(np.int8))
    bias = [b.const(b.rng.integers(-90, 90, 4).astype(np.int32))] if b.chance(0.5) else []
    z = b.node("QLinearConv", [b.node("QuantizeLinear", [v.name, *x]), *x, w, *ws, *y, *bias])
    b.add(b.node("DequantizeLinear", [z, *y]), np.float32, (v.shape[0], 4, *v.shape[2:]))


@part()
def words(b):
    """Strings: moved about, then compared with others."""
    b.since(13)
    labels = b.const(np.array(["a", "", "grün", "a b"], dtype=object))
    moved = b.node("Reshape", [b.node("Concat", [labels, b.node("Identity", [labels])], axis=0), b.ints(2, 4)])
    if b.chance(0.5):
        moved = b.node("Transpose", [moved], perm=[1, 0])
        return b.add(moved, np.object_, (4, 2))
    b.since(19)
    return b.add(b.node("Equal", [moved, labels]), np.bool_, (2, 4))


def inner(b, values):
    """The builder of a subgraph that sees these values; both branches of an If may use the same names."""
    child = Builder(int(b.rng.integers(1 << 30)), b.opset, f"{b.prefix}{b.one('s', 'b')}{b.one(b.count, '')}_")
    child.pool = list(values)
    return child


def result(child, v, parts, most=4):
    """The name of a value like v that the subgraph makes of a few parts."""
    for _ in range(int(child.rng.integers(1, most))):
        child.try_one(parts)
    made = {o for n in child.nodes for o in n.output}
    found = [w.name for w in child.pool if w.name in made and w.dtype == v.dtype and w.shape == v.shape]
    return found[-1] if found else child.node("Identity", [v.name])


def declared(name, kind=1, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def same_matmul(b):
    v = b.pick(lambda v: is_f32(v) and ends_known(v))
    b.add(b.node("MatMul", [v.name, b.const(b.weight(v.dtype, (v.shape[-1],) * 2))]), v.dtype, v.shape)


@part(2)
def branch(b):
    """If whose branches use values from outside."""
    b.since(11)
    v = b.pick(is_f32)
    conditions = [w for w in b.pool if w.dtype == np.bool_ and w.shape in ((), (1,))]
    condition = conditions[0].name if conditions and b.chance(0.5) else b.node("Greater", [b.node("ReduceSum", [v.name], keepdims=0), b.const(np.float32(0))])
    graphs = []
    for _ in range(2):
        child = inner(b, [v, b.like(v)])
        name = result(child, v, [unary, binary, same_matmul, branch, loop])
        graphs.append(helper.make_graph(child.nodes, "branch", [], [declared(name)], child.weights))
    b.add(b.node("If", [condition], then_branch=graphs[0], else_branch=graphs[1]), np.float32, v.shape)


@part()
def loop(b):
    """Loop of 0 to 3 turns, its condition left out or not; it may collect what each turn makes."""
    b.since(13)
    v = b.pick(is_f32)
    child = inner(b, [])
    turn, go, state = child.name(), child.name(), child.name()
    child.pool = [Value(state, np.float32, v.shape), v]
    y = child.node("Tanh", [result(child, child.pool[0], [unary, binary, same_matmul])])
    collected = [child.node("Identity", [y])] if b.chance(0.5) else []
    outputs = [declared(child.node("Identity", [go]), 9, []), declared(y), *map(declared, collected)]
    body = helper.make_graph(child.nodes, "body", [declared(turn, 7, []), declared(go, 9, []), declared(state)], outputs, child.weights)
    turns = int(b.one(0, 1, 2, 3))
    y = b.node("Loop", [b.const(np.int64(turns)), b.one("", b.const(np.array(True))), v.name], 1 + len(collected), body=body)
    b.add(y[0] if collected else y, np.float32, v.shape)
    if collected:
        b.add(y[1], np.float32, (turns,) + v.shape)


@part()
def scan(b):
    """Scan over the first axis; its body uses a weight of the outer graph."""
    b.since(11)
    v = b.pick(lambda v: is_f32(v) and full(v))
    child = inner(b, [])
    state, item, step = child.name(), child.name(), b.const(np.float32(b.rng.normal()))
    y = child.node("Tanh", [child.node("Add", [state, child.node("Mul", [item, step])])])
    outputs = [declared(y), declared(child.node("Identity", [y]))]
    body = helper.make_graph(child.nodes, "body", [declared(state), declared(item)], outputs, child.weights)
    start = b.axes("ReduceSum", v.name, [0], 13, keepdims=0)
    last, seen = b.node("Scan", [start, v.name], 2, body=body, num_scan_inputs=1)
    b.add(last, np.float32, v.shape[1:])
    b.add(seen, np.float32, v.shape)


@part(2)
def function(b):
    """A function of the model's own, at the model's opset or an earlier one."""
    b.since(14)
    if b.prefix:
        raise NothingFits
    v = b.pick(is_f32)
    child = Builder(int(b.rng.integers(1 << 30)), b.opset - int(b.opset in (17, 18, 20) and b.chance(0.5)), "f")
    child.pool = [Value("in_a", np.float32, v.shape), Value("in_b", np.float32, v.shape)]
    y = result(child, child.pool[0], [unary, binary, softmax], 5)
    nodes = [helper.make_node("Constant", [], [t.name], value=t) for t in child.weights] + child.nodes
    name = f"f{len(b.functions)}"
    b.functions.append(helper.make_function("my.domain", name, ["in_a", "in_b"], [y], nodes, [helper.make_opsetid("", child.opset)]))
    b.add(b.node(name, [v.name, b.like(v).name], domain="my.domain"), np.float32, v.shape)


@part()
def sequence(b):
    b.since(11)
    v = b.pick(is_f32)
    s = b.node("SequenceConstruct", [v.name, b.like(v).name])
    if b.chance(0.5):
        s = b.node("SequenceInsert", [s, b.node("Relu", [v.name]), *b.one([], [""], [b.const(np.int64(0))])])
    b.add(b.node("SequenceAt", [s, b.const(np.int64(b.one(0, 1, -1)))]), np.float32, v.shape)


@part()
def twins(b):
    """The same weight stored twice, used by the same operator."""
    v = b.pick(is_f32)
    w = b.weight(np.float32, b.one([], [1]))
    b.add(b.node("Add", [b.node("Mul", [v.name, b.const(w)]), b.node("Mul", [v.name, b.const(w)])]), np.float32, v.shape)


def as_constant(weight):
    return helper.make_node("Constant", [], [weight.name], value=weight)


def unused_weight():
    return numpy_helper.from_array(np.zeros((2, 2), np.float32), "unused w")
