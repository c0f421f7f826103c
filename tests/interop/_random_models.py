"""Random models as exporters write them, from a seed: parts of _random_parts.py and _random_control.py one after the other,
and odd but valid ways to write a file (initialisers that are inputs, external data, outputs that are inputs, ...)."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import _random_control  # noqa: F401  its parts register themselves
from _random_parts import PARTS, Builder, Value, activation

IR = {7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12, 25: 13, 26: 13}
RANKS = {"image": 4, "tokens": 3, "flat": 2}


def first_input(b, kind):
    """An input whose sizes are open or fixed."""
    name = b.one_of("x", "input.1", "images", "entrée 1", "a/b:0")
    n = b.one_of("n", "n", "batch_size", 1, 2, "")
    channels = int(b.one_of(3, 4, 6))
    if kind == "image":
        shape = [n, channels, *b.one_of(("h", "w"), ("h", "h"), (16, 17), (24, "w"))]
    elif kind == "tokens":
        shape = [n, b.one_of("t", "n", 7, ""), channels]
    else:
        shape = [n, channels]
    if kind == "tokens" and b.chance(0.4) and b.dtype == np.float32:  # identifiers and a table
        b.inputs.append(("ids", np.int64, shape[:2]))
        return Value(b.node("Gather", [b.random(50, channels), "ids"]), "tokens", channels)
    b.inputs.append((name, b.dtype, shape))
    return Value(name, kind, channels)


def change_kind(b, x):
    if x.kind == "image" and b.chance(0.5):
        n = b.shape_item(x.name, 0)
        y = b.node("Reshape", [x.name, b.node("Concat", [n, b.ints(x.channels, -1)], axis=0)])
        return Value(b.node("Transpose", [y], perm=[0, 2, 1]), "tokens", x.channels)
    if x.kind == "image":
        y = b.node("GlobalAveragePool", [x.name])
        y = b.node("Flatten", [y], axis=1) if b.chance(0.5) else b.squeeze(y, 2, 3)
        return Value(y, "flat", x.channels)
    if x.kind == "tokens":
        y = b.node("ReduceMean", [x.name], axes=[1], keepdims=0) if b.opset < 18 else b.node("ReduceMean", [x.name, b.ints(1)], keepdims=0)
        return Value(y, "flat", x.channels)
    return Value(b.node("Reshape", [x.name, b.ints(0, 1, x.channels)]), "tokens", x.channels)


def fits(b, opset, only_float32):
    return b.opset >= opset and (b.dtype == np.float32 or not only_float32)


def build(seed):
    """(model, description)."""
    rng = np.random.default_rng([seed, 1])
    opset = int(rng.integers(7, 27))
    dtype = rng.choice([np.float32] * 8 + [np.float64, np.float16])
    b = Builder([seed, 2], opset, dtype)
    x = first_input(b, b.one_of("image", "tokens", "flat"))
    used = []
    earlier = x
    for step in range(int(rng.integers(2, 9))):
        candidates = [f for f, since, narrow in PARTS[x.kind] if fits(b, since, narrow)]
        if b.chance(0.15):
            x = change_kind(b, x)
            continue
        function = candidates[b.rng.integers(len(candidates))]
        y = function(b, x)
        if y is None:
            continue
        used.append(function.__name__)
        earlier, x = x, y
    return finish(b, x, earlier), f"opset {opset}, {np.dtype(dtype).name}: {', '.join(used)}"


def finish(b, x, earlier):
    """The outputs, and odd ways to write the file."""
    kind = helper.np_dtype_to_tensor_dtype(b.dtype)
    if x.name in [i[0] for i in b.inputs] or b.chance(0.1):
        x = Value(b.node("Identity", [x.name]), x.kind, x.channels)
    outputs = [(x.name, kind, b.one_of(None, [None] * RANKS[x.kind], ["out_n"] + [None] * (RANKS[x.kind] - 1)))]
    if b.chance(0.2) and earlier.name not in [o[0] for o in outputs] and earlier.name not in [i[0] for i in b.inputs]:
        outputs.append((earlier.name, kind, None))
    outputs += [o for o in b.extra_outputs if b.chance(0.7)]
    if b.chance(0.1):  # an operator that nothing needs
        activation(b, x.name)
    if b.chance(0.06) and b.inputs[0][0] not in [o[0] for o in outputs]:
        outputs.append((b.inputs[0][0], helper.np_dtype_to_tensor_dtype(np.dtype(b.inputs[0][1])), [d if d != "" else None for d in b.inputs[0][2]]))
    if b.chance(0.06):
        w = b.weight(np.arange(3), np.int64, "answer")
        outputs.append((w, TensorProto.INT64, [3]))
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(t)), [d if d != "" else None for d in shape]) for name, t, shape in b.inputs]
    weights = [numpy_helper.from_array(array, name) for name, array in b.weights.items()]
    if b.chance(0.15) or b.opset < 9:  # before IR version 4 each initialiser is an input
        overridable = [w for w in weights if b.opset < 9 or b.chance(0.5)]
        inputs += [helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in overridable]
    if b.chance(0.08):
        inputs.append(helper.make_tensor_value_info("not used", TensorProto.FLOAT, [2]))
    graph = helper.make_graph(b.nodes, b.one_of("g", "main graph", "torch-jit-export"), inputs,
                              [helper.make_tensor_value_info(n, t, s) if t else helper.make_empty_tensor_value_info(n) for n, t, s in outputs], weights,
                              doc_string="what the graph is for")
    if b.chance(0.1):
        add_sparse(graph)
    domains = [helper.make_opsetid(domain, version) for domain, version in b.domains.items()]
    opsets = [helper.make_opsetid("", b.opset), *domains]
    if b.chance(0.2):
        opsets.append(helper.make_opsetid("ai.onnx.ml", 2))
    if b.chance(0.3):
        opsets.reverse()
    model = helper.make_model(graph, opset_imports=opsets, functions=b.functions, ir_version=max(IR[b.opset], 8 if b.functions else 0),
                              producer_name="a tool", producer_version="1.2", domain="org.example", model_version=7, doc_string="about the model\nin two lines")
    for key, value in (("author", "someone"), ("labels", "{0: 'a', 1: 'b'}"), ("empty", "")):
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    for value in (*graph.input[:1], *graph.output[:1]):
        value.doc_string = "pixels, RGB"
    for node in graph.node[::3]:
        node.doc_string = "where it came from"
    if b.chance(0.1):
        contradict(b, model)
    return model


def contradict(b, model):
    """Says of a value between operators that it has another shape than it has; runtimes go by what they infer."""
    known = {v.name for v in (*model.graph.input, *model.graph.output)}
    try:
        values = [v for v in onnx.shape_inference.infer_shapes(model).graph.value_info if v.name not in known and v.type.tensor_type.HasField("shape")]
    except Exception:  # of any kind: of a model that inference cannot read
        return
    if not values:
        return
    value = values[int(b.rng.integers(len(values)))]
    extents = value.type.tensor_type.shape.dim
    if extents and b.chance(0.5):
        extents[int(b.rng.integers(len(extents)))].dim_value = 7
    else:
        extents.add().dim_value = 1
    del model.graph.value_info[:]
    model.graph.value_info.append(value)


def add_sparse(graph):
    """One weight of rank 2 as a sparse tensor (ONNX Runtime reads float32)."""
    for k, w in enumerate(graph.initializer):
        if len(w.dims) == 2 and w.data_type == TensorProto.FLOAT and w.name not in [i.name for i in graph.input]:
            array = numpy_helper.to_array(w)
            kept = np.flatnonzero(np.abs(array) > 0.3)
            if not len(kept):
                continue
            values = helper.make_tensor(w.name, TensorProto.FLOAT, [len(kept)], array.ravel()[kept])
            graph.sparse_initializer.append(helper.make_sparse_tensor(values, helper.make_tensor("", TensorProto.INT64, [len(kept)], kept), list(w.dims)))
            del graph.initializer[k]
            return


def save(model, path, seed):
    """Every seventh with its weights in a file next to it."""
    if seed % 7 == 3:
        onnx.save(model, path, save_as_external_data=True, location="weights of model.bin", size_threshold=0)
    else:
        onnx.save(model, path)


def sizes_of(model, seed):
    """Sets of sizes: small, primes, large; each name has one size in a set."""
    rng = np.random.default_rng([seed, 3])
    places = [(v.name, k, d.dim_param) for v in model.graph.input for k, d in enumerate(v.type.tensor_type.shape.dim) if not d.HasField("dim_value")]
    if not places:
        yield from ({}, {})
        return
    for choices in ((1, 2), (2, 3, 5, 7), (11, 13, 17, 19), (24, 29, 33), (40, 47)):
        drawn = {}
        yield {(name, k): drawn.setdefault(param or (name, k), int(rng.choice(choices))) for name, k, param in places}


def feeds(model, sizes, seed):
    rng = np.random.default_rng([seed, 4])
    initialisers = {i.name for i in model.graph.initializer} | {i.values.name for i in model.graph.sparse_initializer}
    out = {}
    for v in model.graph.input:
        if v.name in initialisers:
            continue
        shape = [d.dim_value if d.HasField("dim_value") else sizes[v.name, k] for k, d in enumerate(v.type.tensor_type.shape.dim)]
        dtype = helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type)
        out[v.name] = rng.standard_normal(shape).astype(dtype) if np.dtype(dtype).kind == "f" else rng.integers(0, 50, shape).astype(dtype)
    return out
