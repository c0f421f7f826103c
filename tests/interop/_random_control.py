"""More parts of random models (_random_parts.py): subgraphs, local functions, sequences, optional values, operators of other
domains, heads of detectors, and what must not be computed, merged or taken away."""
import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from _random_parts import MICROSOFT, Value, activation, part

ANY = ("image", "tokens", "flat")
RANK = {"image": 4, "tokens": 3, "flat": 2}


def for_all(opset=7, only_float32=False):
    def add(function):
        for kind in ANY:
            part(kind, opset, only_float32)(function)
        return function
    return add


def tensor(b, name, shape=None, kind=None):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind or b.dtype)), shape)


def subgraph(b, build, inputs=()):
    """The graph of what `build` adds; it may use values from outside."""
    kept, b.nodes = b.nodes, []
    outputs = build()
    nodes, b.nodes = b.nodes, kept
    return helper.make_graph(nodes, b.name("graph"), list(inputs), outputs)


def by_shape(b, name, x):
    """A condition on an extent, as exports of dynamic code have them: known, known for some sizes, or neither."""
    if b.chance(0.2):
        size = b.node("Size", [b.node("Shape", [name])])
        return b.node("Not", [b.node("Equal", [size, b.int(b.one_of(2, 3, 4))])])
    size = b.node("Gather", [b.node("Shape", [name]), b.int(b.one_of(*range(RANK[x.kind])))])
    if b.chance(0.3):
        return b.node("Cast", [b.node("Sub", [size, b.int(b.one_of(0, 1, x.channels))])], to=TensorProto.BOOL)
    return b.node(b.one_of("Equal", "Less", "Greater"), [size, b.int(b.one_of(0, 1, 2, 3, x.channels))])


@for_all(opset=11)
def branch(b, x):
    """If: both branches use a value from outside; one of them an initialiser of its own, too, and other branches."""
    sum_ = b.node("ReduceMax", [x.name], keepdims=0)
    if b.chance(0.2):
        condition = b.weight(np.array(b.chance(0.5)), np.bool_)
    else:
        condition = by_shape(b, x.name, x) if b.chance(0.5) else b.node("Greater", [sum_, b.weight(0.5)])

    def one():
        y = activation(b, b.node("Mul", [x.name, b.scalar(2)]))
        if not b.chance(0.5):
            return [tensor(b, y)]
        branches = [subgraph(b, lambda op=op: [tensor(b, b.node(op, [y, x.name]))]) for op in ("Add", "Sub")]
        return [tensor(b, b.node("If", [by_shape(b, y, x)], then_branch=branches[0], else_branch=branches[1]))]

    def other():
        y = b.node("Add", [b.node("Neg", [x.name]), b.node("Constant", [], value=numpy_helper.from_array(np.full(1, 0.5, b.dtype)))])
        return [tensor(b, y)]
    return Value(b.node("If", [condition], then_branch=subgraph(b, one), else_branch=subgraph(b, other)), x.kind, x.channels)


@for_all(opset=11)
def loop(b, x):
    """Loop: carries a value, uses one from outside, and collects what each round makes."""
    step, go, state = b.name("step"), b.name("go"), b.name("state")
    outer = b.node("Tanh", [x.name])

    def body():
        y = b.node("Add", [state, b.node("Mul", [outer, b.scalar(0.5)])])
        return [tensor(b, b.node("Identity", [go]), [], np.bool_), tensor(b, y), tensor(b, b.node("ReduceMax", [y], keepdims=0))]
    graph = subgraph(b, body, [tensor(b, step, [], np.int64), tensor(b, go, [], np.bool_), tensor(b, state)])
    y, seen = b.node("Loop", [b.int(int(b.one_of(0, 1, 3))), b.weight(np.array(True), np.bool_), x.name], 2, body=graph)
    b.extra_outputs.append((seen, helper.np_dtype_to_tensor_dtype(b.dtype), None))
    return Value(y, x.kind, x.channels)


@part("tokens", 9)
def scan(b, x):
    state, item = b.name("state"), b.name("item")
    first = b.node("ReduceMin", [x.name], axes=[1], keepdims=0) if b.opset < 18 else b.node("ReduceMin", [x.name, b.ints(1)], keepdims=0)

    def body():
        y = b.node("Add", [b.node("Mul", [state, b.scalar(0.5)]), item])
        shape = [None, x.channels]
        return [tensor(b, y, shape), tensor(b, b.node("Identity", [y]), shape)]
    graph = subgraph(b, body, [tensor(b, state, [None, x.channels]), tensor(b, item, [None, x.channels])])
    _, y = b.node("Scan", [first, x.name], 2, body=graph, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1],
                  **({"scan_input_directions": [1]} if b.chance(0.3) else {}))
    return Value(y, "tokens", x.channels)


@for_all(opset=11)
def sequence(b, x):
    s = b.node("SequenceConstruct", [x.name, b.node("Neg", [x.name])])
    if b.chance(0.5):
        s = b.node("SequenceInsert", [s, b.node("Abs", [x.name]), b.int(1)])
    if b.chance(0.5):
        return Value(b.node("SequenceAt", [s, b.int(-1)]), x.kind, x.channels)
    y = b.node("ConcatFromSequence", [s], axis=0, new_axis=1)
    return Value(b.node("ReduceMax", [y], axes=[0], keepdims=0) if b.opset < 18 else b.node("ReduceMax", [y, b.ints(0)], keepdims=0), x.kind, x.channels)


@for_all(opset=15)
def optional(b, x):
    return Value(b.node("OptionalGetElement", [b.node("Optional", [x.name])]), x.kind, x.channels)


@for_all(opset=15)
def function(b, x):
    """A function of the model itself, called twice, one call inside another with an attribute."""
    domain = b.one_of("local", "my.ops")
    b.domains[domain] = 1
    name, inner = b.name("Function"), b.name("Inner")
    imports = [helper.make_opsetid("", b.opset), helper.make_opsetid(domain, 1)]
    leaky = helper.make_node("LeakyRelu", ["a"], ["b"])
    leaky.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
    b.functions.append(helper.make_function(domain, inner, ["a"], ["b"], [leaky], imports, ["slope"]))
    nodes = [helper.make_node(inner, ["x"], ["h"], domain=domain, slope=float(b.one_of(0.2, -0.3))), helper.make_node("Tanh", ["h"], ["y"])]
    b.functions.append(helper.make_function(domain, name, ["x"], ["y"], nodes, imports))
    return Value(b.node(name, [b.node(name, [x.name], domain=domain)], domain=domain), x.kind, x.channels)


@part("tokens", 11, True)
def microsoft(b, x):
    b.domains[MICROSOFT] = 1
    choice = b.rng.integers(4)
    if choice == 0:
        return Value(b.node("FusedMatMul", [x.name, b.random(x.channels, 4)], domain=MICROSOFT, alpha=0.5), "tokens", 4)
    if choice == 1:
        return Value(b.node("BiasGelu", [x.name, b.random(x.channels)], domain=MICROSOFT), "tokens", x.channels)
    if choice == 2:
        y = b.node("SkipLayerNormalization", [x.name, b.node("Neg", [x.name]), b.random(x.channels), b.random(x.channels)], domain=MICROSOFT)
        return Value(y, "tokens", x.channels)
    return Value(b.node("QuickGelu", [x.name], domain=MICROSOFT, alpha=1.702), "tokens", x.channels)


@part("image", 11, True)
def fused_convolution(b, x):
    b.domains[MICROSOFT] = 1
    y = b.node("FusedConv", [x.name, b.random(4, x.channels, 3, 3), b.random(4)], domain=MICROSOFT, activation="Relu", pads=[1, 1, 1, 1])
    return Value(y, "image", 4)


@part("flat", 11, True)
def boxes(b, x):
    """The end of a detector: boxes from numbers, the ones that are left, their scores."""
    n = 6
    corner = b.node("Sigmoid", [b.node("Gemm", [x.name, b.random(x.channels, 2 * n), b.random(2 * n)])])
    corner = b.node("Reshape", [corner, b.ints(-1, n, 2)])
    box = b.node("Concat", [corner, b.node("Add", [corner, b.scalar(0.5)])], axis=2)
    score = b.node("Reshape", [b.node("Sigmoid", [b.node("MatMul", [x.name, b.random(x.channels, 2 * n)])]), b.ints(0, 2, n)])
    left = b.node("NonMaxSuppression", [box, score, b.int(3), b.weight(np.float32(0.5)), b.weight(np.float32(0.3))])
    b.extra_outputs.append((left, TensorProto.INT64, [None, 3]))
    if b.opset >= 12:
        index = b.slice(left, [0], [1], [1])
        found = b.node("GatherND", [box, index])
        b.extra_outputs.append((found, TensorProto.FLOAT, None))
    return Value(b.node("Flatten", [score], axis=1), "flat", 2 * n)


@part("flat", 9)
def not_zero(b, x):
    where = b.node("Transpose", [b.node("NonZero", [b.node("Relu", [x.name])])], perm=[1, 0])
    b.extra_outputs.append((where, TensorProto.INT64, None))
    if b.opset >= 11:
        unique = b.node("Unique", [b.node("Cast", [x.name], to=TensorProto.INT64)], sorted=1)
        b.extra_outputs.append((unique, TensorProto.INT64, None))
    return x


@for_all(opset=9)
def chance(b, x):
    """Two random tensors of one shape are two; seeds make them the same in each run, those of the file or those that a comparison gives (session())."""
    seeds = [float(n) for n in b.rng.integers(1, 1000, 2)]
    seeds = seeds if b.chance(0.5) else seeds[:1] * 2
    unseeded = b.chance(0.4)
    one, two = (b.node("RandomNormalLike", [x.name], **({} if unseeded else {"seed": s})) for s in seeds)
    return Value(b.node("Add", [x.name, b.node("Sub", [one, two])]), x.kind, x.channels)


@for_all(opset=12, only_float32=True)
def dropout(b, x):
    training = b.weight(np.array(b.chance(0.5)), np.bool_)
    inputs = [x.name, b.weight(np.float32(b.one_of(0.0, 0.3, 0.5))), training]
    if b.chance(0.4):
        y, mask = b.node("Dropout", inputs, 2, seed=int(b.rng.integers(1000)))
        b.extra_outputs.append((mask, TensorProto.BOOL, None))
        return Value(y, x.kind, x.channels)
    return Value(b.node("Dropout", inputs, seed=int(b.rng.integers(1000))), x.kind, x.channels)


@for_all()
def casts(b, x):
    """Through a narrower type: what is rounded stays rounded."""
    kind = b.one_of(TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.FLOAT) if b.opset < 13 or b.chance(0.7) else TensorProto.BFLOAT16
    if b.dtype == np.float64 and kind == TensorProto.BFLOAT16:
        kind = TensorProto.FLOAT
    return Value(b.node("Cast", [b.node("Cast", [x.name], to=kind)], to=helper.np_dtype_to_tensor_dtype(b.dtype)), x.kind, x.channels)


@for_all()
def nothing(b, x):
    """What does nothing, or everything: reshape to itself, identity, a sum with nothing."""
    choice = b.rng.integers(4)
    if choice == 0:
        return Value(b.node("Reshape", [x.name, b.node("Shape", [x.name])]), x.kind, x.channels)
    if choice == 1:
        empty = b.weight(np.zeros((0, *[1] * (RANK[x.kind] - 1))))
        return x if x.kind != "flat" else Value(b.node("Concat", [x.name, b.weight(np.zeros((0, x.channels)))], axis=0) if empty else x.name, "flat", x.channels)
    if choice == 2:
        return Value(b.node("Sum", [x.name]), x.kind, x.channels)
    return Value(b.node("Squeeze" if b.opset < 13 else "Identity", [x.name] if b.opset >= 13 else [b.unsqueeze(x.name, 0)], **({"axes": [0]} if b.opset < 13 else {})), x.kind, x.channels)


@for_all(opset=9)
def tiled(b, x):
    """Twice along the batch, and back."""
    repeats = b.ints(*([2] + [1] * (RANK[x.kind] - 1)))
    y = b.node("Tile", [x.name, repeats])
    if b.opset >= 10:
        n = b.shape_item(x.name, 0)
        y = b.node("Slice", [y, b.ints(0), n, b.ints(0)])
        return Value(y, x.kind, x.channels)
    return Value(y, x.kind, x.channels)
