"""Typed random models from a seed: parts of _typed_parts.py and _typed_layers.py in any order on any values that fit, opsets 7 to 21,
written in odd but valid ways (weights that are inputs or Constants, outputs that are inputs, unused inputs, names with any characters)."""
import numpy as np
import onnx
from onnx import helper

from _random_models import IR
from _typed_layers import as_constant, unused_weight
from _typed_parts import PARTS, Builder, onnx_type

SIZES = ({"n": 1, "m": 1}, {"n": 2, "m": 3}, {"n": 5, "m": 2}, {"n": 13, "m": 7}, {"n": 3, "m": 19})
TYPES = (np.float32,) * 4 + (np.float64, np.float16, np.int64, np.int32, np.bool_)
NAMES = ("x", "in:0", "input ", "π", "a/b\\c.", "'x\"", "%$#", "日本")


def add_inputs(b):
    for k in range(int(b.rng.integers(1, 4))):
        dtype = np.float32 if k == 0 else b.one(*TYPES)
        rank = int(b.one(0, 1, 2, 3, 3, 4, 4, 5))
        shape = tuple(b.one("n", "m", 1, 2, 3, 4, 5, 6) if axis != 1 else b.one(1, 2, 3, 4, 6) for axis in range(rank))
        b.add(b.one(*NAMES) + str(k), dtype, b.pool[0].shape if k and b.chance(0.5) else shape)
    return list(b.pool)


def outputs_of(b, inputs):
    """Values that nothing uses, mostly; now and then one that is used, an input, or not all of them."""
    made, used = {o for n in b.nodes for o in n.output}, {i for n in b.nodes for i in n.input}
    found = [v for v in b.pool if v.name in made]
    outputs = [v for v in found if v.name not in used] or found[-1:]
    if found and b.chance(0.3):
        outputs.append(b.one(*found))
    if b.chance(0.3) and len(outputs) > 1:
        outputs.pop()
    if not outputs or b.chance(0.06):
        outputs.append(inputs[0])
    return list(dict.fromkeys(outputs))


def build(seed):
    """(model, description)."""
    b = Builder([seed, 77], int(np.random.default_rng([seed, 78]).integers(7, 22)))
    inputs = add_inputs(b)
    for _ in range(int(b.rng.integers(4, 22))):
        b.try_one(PARTS)
    weights, nodes = list(b.weights), list(b.nodes)
    declared = [helper.make_tensor_value_info(v.name, onnx_type(v.dtype), v.shape) for v in inputs]
    also_inputs = {w.name for w in weights} if b.opset < 9 else set(b.overridable)
    declared += [helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in weights if w.name in also_inputs]
    if b.chance(0.1):
        declared.append(helper.make_tensor_value_info("not used", onnx.TensorProto.DOUBLE, ["n", 2]))
    if b.chance(0.1) and b.opset >= 9:
        weights.append(unused_weight())
    if b.chance(0.2) and b.opset >= 9:
        turned = {w.name for w in weights if w.name not in also_inputs and b.chance(0.5)}
        nodes = [as_constant(w) for w in weights if w.name in turned] + nodes
        weights = [w for w in weights if w.name not in turned]
    outputs = [helper.make_tensor_value_info(v.name, onnx.TensorProto.STRING if v.dtype == np.object_ else onnx_type(v.dtype), None if b.chance(0.4) else v.shape) for v in outputs_of(b, inputs)]
    graph = helper.make_graph(nodes, "g", declared, outputs, weights)
    opsets = [helper.make_opsetid("", b.opset)] + ([helper.make_opsetid("my.domain", 1)] if b.functions else [])
    model = helper.make_model(graph, opset_imports=opsets, functions=b.functions, ir_version=max(IR[b.opset], 8 if b.functions else 0))
    return model, f"opset {b.opset}: {' '.join(n.op_type for n in nodes)[:400]}"


def save(model, path, seed):
    """Every seventh with its weights in a file next to it, but the short ones: ONNX Runtime infers shapes from those."""
    if seed % 7 == 3:
        onnx.save(model, path, save_as_external_data=True, location="weights of model.bin", size_threshold=64)
    else:
        onnx.save(model, path)


def sizes_of(model, seed):  # noqa: ARG001  as _random_models has it
    """Sets of sizes: of 1 and more, as docs/wild.md says of open dimensions."""
    places = [(v.name, k, d.dim_param) for v in model.graph.input for k, d in enumerate(v.type.tensor_type.shape.dim) if not d.HasField("dim_value")]
    for sizes in SIZES:
        yield {(name, k): sizes[param] for name, k, param in places}


def feeds(model, sizes, seed):
    """Inputs; at odd seeds also other values for the weights that are inputs."""
    rng = np.random.default_rng([seed, 5, *sizes.values()])
    weights = {w.name for w in model.graph.initializer}
    found = {}
    for v in model.graph.input:
        if v.name in weights and (seed % 2 == 0 or v.type.tensor_type.elem_type not in (1, 11)):
            continue
        shape = [d.dim_value if d.HasField("dim_value") else sizes[v.name, k] for k, d in enumerate(v.type.tensor_type.shape.dim)]
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type))
        x = rng.standard_normal(shape) * rng.choice([0.3, 1, 3]) if dtype.kind == "f" else rng.integers(0 if dtype.kind == "b" else -4, 2 if dtype.kind == "b" else 9, shape)
        found[v.name] = np.asarray(x).astype(dtype)
    return found
