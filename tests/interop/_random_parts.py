"""Parts of random models: each takes values of a model that is being built and adds a few operators, as exporters write them.

A value is (name, kind, channels): "image" is [n, channels, h, w], "tokens" [n, t, channels], "flat" [n, channels], all of the
model's float type. A part that an opset does not have returns None.
"""
import collections

import numpy as np
from onnx import TensorProto, helper, numpy_helper

Value = collections.namedtuple("Value", "name kind channels")
INT64_MAX = 2**63 - 1
PARTS = {"image": [], "tokens": [], "flat": []}
MICROSOFT = "com.microsoft"


def part(kind, opset=7, only_float32=False):
    def add(function):
        PARTS[kind].append((function, opset, only_float32))
        return function
    return add


class Builder:
    def __init__(self, seed, opset, dtype):
        self.rng = np.random.default_rng(seed)
        self.opset, self.dtype = opset, np.dtype(dtype)
        self.nodes, self.weights, self.inputs, self.outputs, self.functions, self.domains = [], {}, [], [], [], {}
        self.extra_outputs = []  # (name, onnx type, shape)
        self.count = 0

    def name(self, stem="v"):
        self.count += 1
        return f"{stem}{self.count}"

    def one_of(self, *items):
        return items[self.rng.integers(len(items))]

    def chance(self, p):
        return self.rng.random() < p

    def weight(self, array, dtype=None, stem="w"):
        name = self.name(stem)
        self.weights[name] = np.asarray(array, dtype=dtype or self.dtype)
        return name

    def random(self, *shape, scale=None):
        fan = max(1, int(np.prod(shape[1:]))) if len(shape) > 1 else 4
        return self.weight(self.rng.standard_normal(shape) * (scale or 1 / np.sqrt(fan)))

    def ints(self, *numbers):
        """A list of int64: an initialiser or a Constant."""
        if self.chance(0.7) or self.opset < 9:  # Constant makes floats alone there
            return self.weight(np.array(numbers, np.int64), np.int64, "i")
        return self.node("Constant", [], value=numpy_helper.from_array(np.array(numbers, np.int64)))

    def int(self, number):
        return self.weight(np.int64(number), np.int64, "i")

    def scalar(self, number):
        shape = self.one_of((), (), (1,), (1, 1))
        return self.weight(np.full(shape, number))

    def node(self, op, inputs, outputs=1, domain="", **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, domain=domain, name=self.one_of("", self.name(op + "_")), **attributes))
        return names[0] if outputs == 1 else names

    def axes(self, op, x, axes, keep, since=13, outputs=1, **attributes):
        """An operator whose axes became an input in opset `since`."""
        if keep is not None:
            attributes["keepdims"] = keep
        if self.opset >= since:
            return self.node(op, [x, self.ints(*axes)], outputs, **attributes)
        return self.node(op, [x], outputs, axes=list(axes), **attributes)

    def squeeze(self, x, *axes):
        return self.axes("Squeeze", x, axes, None)

    def unsqueeze(self, x, *axes):
        return self.axes("Unsqueeze", x, axes, None)

    def split(self, x, axis, sizes):
        if self.opset >= 13:
            return self.node("Split", [x, self.ints(*sizes)], len(sizes), axis=axis)
        return self.node("Split", [x], len(sizes), axis=axis, split=list(sizes))

    def slice(self, x, starts, ends, axes, steps=None):
        if self.opset >= 10:
            return self.node("Slice", [x, self.ints(*starts), self.ints(*ends), self.ints(*axes)] + ([self.ints(*steps)] if steps else []))
        return None if steps else self.node("Slice", [x], starts=list(starts), ends=list(ends), axes=list(axes))

    def clip(self, x, low, high):
        if self.opset >= 11:
            return self.node("Clip", [x, "" if low is None else self.weight(low), "" if high is None else self.weight(high)])
        return self.node("Clip", [x], **({"min": low} if low is not None else {}), **({"max": high} if high is not None else {}))

    def shape_item(self, x, index):
        """An extent as a list of one number, spelt in one of the ways of exporters."""
        shape = self.node("Shape", [x]) if self.opset < 15 or self.chance(0.7) else self.node("Shape", [x], start=index, end=index + 1)
        if self.nodes[-1].attribute:
            return shape
        if self.chance(0.3) and self.opset >= 10:
            return self.slice(shape, [index], [index + 1], [0])
        if self.chance(0.5):
            return self.node("Gather", [shape, self.ints(index)], axis=0)
        return self.unsqueeze(self.node("Gather", [shape, self.int(index)], axis=0), 0)


def activation(b, x, channels=None, kind="flat"):
    """One of the activations, plain or spelt out."""
    choice = b.rng.integers(16)
    unary = ["Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign"]
    if b.dtype != np.float32 and choice > 2:
        choice = b.rng.integers(3)
    if choice < 8:
        op = unary[choice]
        return b.node(op, [x], **({"alpha": float(b.one_of(0.01, 0.3, -0.5, 1.5))} if op == "LeakyRelu" else {}))
    if choice == 8:
        return b.clip(x, b.one_of(0.0, -1.0, None), b.one_of(6.0, 1.0))
    if choice == 9:
        return b.node("Mul", [x, b.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)])
    if choice == 10:
        return b.node("HardSwish", [x]) if b.opset >= 14 else b.node("Mul", [x, b.node("Div", [b.clip(b.node("Add", [x, b.scalar(3)]), 0.0, 6.0), b.scalar(6)])])
    if choice == 11:
        return b.node("Mul", [x, b.node("Sigmoid", [x])])
    if choice == 12 and channels:
        return b.node("PRelu", [x, b.random(*{"image": (channels, 1, 1), "tokens": (channels,), "flat": (channels,)}[kind])])
    if choice == 13 and b.opset >= 9:
        erf = b.node("Erf", [b.node("Div", [x, b.scalar(np.sqrt(2))])])
        return b.node("Mul", [b.node("Mul", [x, b.node("Add", [erf, b.scalar(1)])]), b.scalar(0.5)])
    if choice == 14:
        return b.node("Mul", [x, b.node("Tanh", [b.node("Softplus", [x])])])
    if b.opset >= 20:
        return b.node("Gelu", [x], approximate=b.one_of("none", "tanh"))
    return b.node("Max", [x, b.scalar(0)]) if b.opset >= 8 else b.node("Relu", [x])


def softmax(b, x, rank, axis):
    """Along one axis; opsets below 13 flatten what is behind it, so there only the last is meant."""
    return b.node("Softmax" if b.chance(0.8) else "LogSoftmax", [x], axis=axis if b.opset >= 13 else b.one_of(-1, rank - 1) if b.opset >= 11 else rank - 1)


# ---- images ----

@part("image")
def convolution(b, x):
    group = b.one_of(1, 1, 1, x.channels, 2 if x.channels % 2 == 0 else 1)
    out = group * int(b.one_of(1, 2, 3)) if group > 1 else int(b.one_of(4, 6, 8))
    kernel = [int(b.one_of(1, 1, 3, 3, 2)), int(b.one_of(1, 1, 3, 3, 5))]
    attributes = {"kernel_shape": kernel} if b.chance(0.7) else {}
    if b.chance(0.5):
        attributes |= {"strides": [int(b.one_of(1, 1, 2)), int(b.one_of(1, 1, 2))]}
    if b.chance(0.3):
        attributes |= {"auto_pad": b.one_of("SAME_UPPER", "SAME_LOWER", "VALID")}
    else:
        attributes |= {"pads": [int(n) for n in b.rng.integers(0, 3, 4)], "dilations": [int(b.one_of(1, 1, 2)), 1]}
    w = b.random(out, x.channels // group, *kernel)
    y = b.node("Conv", [x.name, w] + ([b.random(out)] if b.chance(0.6) else []), group=group, **attributes)
    if b.chance(0.5):
        y = batch_norm(b, Value(y, "image", out)).name
    if b.chance(0.7):
        y = activation(b, y, out, "image")
    return Value(y, "image", out)


@part("image")
def batch_norm(b, x):
    c = x.channels
    scale, shift, mean = (b.random(c) for _ in range(3))
    variance = b.weight(b.rng.random(c) + 0.1)
    attributes = {"epsilon": float(b.one_of(1e-5, 1e-3)), "momentum": 0.9}
    if b.opset < 9 and b.chance(0.3):
        attributes["spatial"] = 1
    if b.opset >= 14 and b.chance(0.2):
        return Value(b.node("BatchNormalization", [x.name, scale, shift, mean, variance], 3, training_mode=1, **attributes)[0], "image", c)
    return Value(b.node("BatchNormalization", [x.name, scale, shift, mean, variance], **attributes), "image", c)


@part("image", only_float32=True)
def pool(b, x):
    op = b.one_of("MaxPool", "AveragePool", "MaxPool", "LpPool")
    attributes = {"kernel_shape": [int(b.one_of(2, 3)), int(b.one_of(1, 2, 3))], "strides": [int(b.one_of(1, 2)), int(b.one_of(1, 2))]}
    if b.chance(0.5):
        attributes["pads"] = [int(n) for n in b.rng.integers(0, 1 + (attributes["kernel_shape"][1] > 1), 4)]
    if op == "AveragePool" and b.chance(0.5):
        attributes["count_include_pad"] = 1
    if op != "LpPool" and b.opset >= 10 and b.chance(0.4):
        attributes["ceil_mode"] = 1
    if op == "MaxPool" and b.opset >= 10 and b.chance(0.3):
        attributes["dilations"] = [2, 1]
    if op == "MaxPool" and b.opset >= 8 and b.chance(0.2):
        y, index = b.node(op, [x.name], 2, **attributes)
        b.extra_outputs.append((index, TensorProto.INT64, None))
        return Value(y, "image", x.channels)
    return Value(b.node(op, [x.name], **attributes), "image", x.channels)


@part("image")
def squeeze_excite(b, x):
    c = x.channels
    y = b.node("GlobalAveragePool", [x.name]) if b.chance(0.6) else b.node("ReduceMean", [x.name], axes=[2, 3], keepdims=1) if b.opset < 18 else b.node("ReduceMean", [x.name, b.ints(-1, -2)])
    y = b.node("Conv", [b.node("Relu", [b.node("Conv", [y, b.random(2, c, 1, 1)])]), b.random(c, 2, 1, 1), b.random(c)])
    gate = b.node("Sigmoid", [y])
    return Value(b.node("Mul", b.one_of([x.name, gate], [gate, x.name])), "image", c)


@part("image")
def branches(b, x):
    c = x.channels
    outs = [b.node("Conv", [x.name, b.random(n, c, k, k)], pads=[k // 2] * 4) for n, k in ((2, 1), (3, 3), (2, 1))]
    y = b.node("Concat", [x.name, *(activation(b, o) for o in outs)], axis=b.one_of(1, -3) if b.opset >= 11 else 1)
    return Value(y, "image", c + 7)


@part("image")
def residual(b, x):
    y = b.node("Conv", [x.name, b.random(x.channels, x.channels, 3, 3), b.random(x.channels)], pads=[1, 1, 1, 1])
    return Value(activation(b, b.node(b.one_of("Add", "Sum"), [y, x.name]), x.channels, "image"), "image", x.channels)


@part("image", 11, True)
def resize(b, x):
    mode = b.one_of("nearest", "linear", "cubic")
    if mode != "nearest" or b.chance(0.5):
        how = {"coordinate_transformation_mode": b.one_of("asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel")}
    else:
        how = {}
    if mode == "nearest" and b.chance(0.5):
        how["nearest_mode"] = b.one_of("floor", "round_prefer_floor", "ceil")
    if b.chance(0.5):
        y = b.node("Resize", [x.name, "", b.weight([1, 1, b.one_of(2, 1.5), b.one_of(2, 0.5)], np.float32)], mode=mode, **how)
    else:  # to twice the size, computed from the shape
        shape = b.node("Shape", [x.name])
        sizes = b.node("Concat", [b.slice(shape, [0], [2], [0]), b.node("Mul", [b.slice(shape, [2], [INT64_MAX], [0]), b.ints(2, 2)])], axis=0)
        y = b.node("Resize", [x.name, "", "", sizes], mode=mode, **how)
    return Value(y, "image", x.channels)


@part("image")
def upsample(b, x):
    scales = [1.0, 1.0, 2.0, 2.0]
    mode = b.one_of("nearest", "linear") if b.dtype == np.float32 else "nearest"
    if b.opset < 9:
        return Value(b.node("Upsample", [x.name], mode=mode, scales=scales), "image", x.channels)
    if b.opset == 9:
        return Value(b.node("Upsample", [x.name, b.weight(scales, np.float32)], mode=mode), "image", x.channels)
    return Value(b.node("Resize", [x.name, b.weight(scales, np.float32)], mode=mode), "image", x.channels) if b.opset == 10 else None


@part("image", 16, True)
def grid_sample(b, x):
    n = b.shape_item(x.name, 0)
    grid = b.node("Expand", [b.weight(b.rng.uniform(-1.2, 1.2, (1, 5, 6, 2))), b.node("Concat", [n, b.ints(5, 6, 2)], axis=0)])
    mode = b.one_of("bilinear", "nearest", "bicubic") if b.opset < 20 else b.one_of("linear", "nearest", "cubic")
    return Value(b.node("GridSample", [x.name, grid], mode=mode, padding_mode=b.one_of("zeros", "border", "reflection"), align_corners=int(b.chance(0.5))), "image", x.channels)


@part("image", only_float32=True)
def transposed(b, x):
    stride = int(b.one_of(1, 2, 3))
    attributes = {"strides": [stride, stride], "pads": [int(n) for n in b.rng.integers(0, 2, 4)]}
    if stride > 1 and b.chance(0.5):
        attributes["output_padding"] = [1, int(stride > 2)]
    group = 2 if x.channels % 2 == 0 and b.chance(0.3) else 1
    return Value(b.node("ConvTranspose", [x.name, b.random(x.channels, 3, 3, 2)] + ([b.random(3 * group)] if b.chance(0.5) else []), group=group, **attributes), "image", 3 * group)


@part("image")
def shuffle(b, x):
    """Channels in two groups, exchanged: reshape, transpose, reshape."""
    if x.channels % 2:
        return None
    n, h, w = (b.shape_item(x.name, k) for k in (0, 2, 3))
    y = b.node("Reshape", [x.name, b.node("Concat", [n, b.ints(2, x.channels // 2), h, w], axis=0)])
    y = b.node("Transpose", [y], perm=[0, 2, 1, 3, 4])
    back = b.node("Concat", [b.ints(0) if b.chance(0.5) else n, b.ints(b.one_of(-1, x.channels)), h, w], axis=0)
    return Value(b.node("Reshape", [y, back]), "image", x.channels)


@part("image")
def nhwc(b, x):
    y = b.node("Transpose", [x.name], perm=[0, 2, 3, 1])
    y = b.node("MatMul", [y, b.random(x.channels, 4)])
    y = activation(b, b.node("Add", [y, b.random(4)]))
    return Value(b.node("Transpose", [y], perm=[0, 3, 1, 2]), "image", 4)


@part("image")
def split_join(b, x):
    if x.channels < 3:
        return None
    sizes = [1, x.channels - 2, 1]
    one, two, three = b.split(x.name, b.one_of(1, -3) if b.opset >= 11 else 1, sizes)
    return Value(b.node("Concat", [three, activation(b, two), one], axis=1), "image", x.channels)


@part("image")
def slices(b, x):
    """All but the first row; every second column, or from right to left."""
    y = b.slice(x.name, [1], [INT64_MAX], [2])
    if b.opset >= 10:
        y = b.slice(y, [-1], [-INT64_MAX], [-1], [b.one_of(-1, -2)]) if b.chance(0.5) else b.slice(y, [0], [INT64_MAX], [3], [2])
    return Value(y, "image", x.channels)


@part("image")
def pad(b, x):
    mode = b.one_of("constant", "reflect", "edge")
    pads = [0, 0, *(int(n) for n in b.rng.integers(0, 2, 2)), 0, 0, *(int(n) for n in b.rng.integers(0, 2, 2))]
    value = float(b.one_of(0, 0, 1.5))
    if b.opset < 11:
        return Value(b.node("Pad", [x.name], mode=mode, pads=pads, value=value), "image", x.channels)
    if mode == "constant" and b.chance(0.2):
        pads[2] = -1  # takes a row away
    return Value(b.node("Pad", [x.name, b.ints(*pads)] + ([b.weight(value)] if mode == "constant" and b.chance(0.7) else []), mode=mode), "image", x.channels)


@part("image")
def depth_space(b, x):
    if x.channels % 4 == 0:
        return Value(b.node("DepthToSpace", [x.name], blocksize=2, **({"mode": b.one_of("DCR", "CRD")} if b.opset >= 11 else {})), "image", x.channels // 4)
    return None


@part("image", only_float32=True)
def norms(b, x):
    if b.chance(0.5):
        return Value(b.node("InstanceNormalization", [x.name, b.random(x.channels), b.random(x.channels)], epsilon=1e-5), "image", x.channels)
    return Value(b.node("LRN", [x.name], size=3, alpha=1e-2, beta=0.75, bias=1.0), "image", x.channels)


@part("image", 13, True)
def quantised(b, x):
    """Quantise and dequantise around a convolution, weights of one scale a channel."""
    scale, zero, u = b.weight(np.float32(0.05)), b.weight(np.uint8(128), np.uint8), b.weight(b.rng.integers(-90, 90, (4, x.channels, 3, 3)), np.int8)
    y = b.node("DequantizeLinear", [b.node("QuantizeLinear", [x.name, scale, zero]), scale, zero])
    w = b.node("DequantizeLinear", [u, b.weight(b.rng.random(4) * 0.01 + 0.001), b.weight(np.zeros(4), np.int8)], axis=0)
    return Value(b.node("Conv", [y, w], pads=[1, 1, 1, 1]), "image", 4)


@part("image", 10, True)
def integer_convolution(b, x):
    scale, zero = b.weight(np.float32(0.05)), b.weight(np.uint8(120), np.uint8)
    q = b.node("QuantizeLinear", [x.name, scale, zero])
    w = b.weight(b.rng.integers(0, 255, (4, x.channels, 1, 1)), np.uint8)
    y = b.node("QLinearConv", [q, scale, zero, w, b.weight(np.float32(0.01)), b.weight(np.uint8(127), np.uint8), b.weight(np.float32(0.1)), zero])
    return Value(b.node("DequantizeLinear", [y, b.weight(np.float32(0.1)), zero]), "image", 4)


# ---- tokens ----

@part("tokens")
def linear(b, x):
    out = int(b.one_of(4, 6, 8))
    y = b.node("MatMul", [x.name, b.random(x.channels, out)])
    return Value(activation(b, b.node("Add", b.one_of([y, b.random(out)], [b.random(out), y])), out, "tokens"), "tokens", out)


@part("tokens")
def layer_norm(b, x):
    c = x.channels
    if b.opset >= 17 and b.chance(0.5):
        return Value(b.node("LayerNormalization", [x.name, b.random(c)] + ([b.random(c)] if b.chance(0.6) else []), axis=-1), "tokens", c)
    mean = b.node("ReduceMean", [x.name, b.ints(-1)]) if b.opset >= 18 else b.node("ReduceMean", [x.name], axes=[-1] if b.opset >= 11 else [2])
    d = b.node("Sub", [x.name, mean])
    square = b.node("Pow", [d, b.scalar(2)]) if b.chance(0.6) else b.node("Mul", [d, d])
    variance = b.node("ReduceMean", [square, b.ints(-1)]) if b.opset >= 18 else b.node("ReduceMean", [square], axes=[-1] if b.opset >= 11 else [2])
    root = b.node("Sqrt", [b.node("Add", [variance, b.scalar(1e-3)])])
    return Value(b.node("Add", [b.node("Mul", [b.node("Div", [d, root]), b.random(c)]), b.random(c)]), "tokens", c)


@part("tokens")
def attention(b, x):
    heads, width = 2, 3
    inner = heads * width
    n, t = b.shape_item(x.name, 0), b.shape_item(x.name, 1)
    shape = b.node("Concat", [n, t, b.ints(heads, width)], axis=0) if b.chance(0.6) else b.ints(0, -1, heads, width)
    q, k, v = (b.node("Transpose", [b.node("Reshape", [b.node("MatMul", [x.name, b.random(x.channels, inner)]), shape])],
                      perm=[0, 2, 3, 1] if turned else [0, 2, 1, 3]) for turned in (False, True, False))
    scores = b.node(b.one_of("Div", "Mul"), [b.node("MatMul", [q, k]), b.scalar(np.sqrt(width))])
    if b.opset >= 14 and b.chance(0.4):  # no token looks at later ones
        ones = b.node("ConstantOfShape", [b.node("Concat", [t, t], axis=0)], value=numpy_helper.from_array(np.ones(1, np.float32)))
        mask = b.node("Cast", [b.node("Trilu", [ones], upper=0)], to=TensorProto.BOOL)
        scores = b.node("Where", [mask, scores, b.scalar(-1e4)])
    if b.opset >= 9 and b.chance(0.5):  # Greater takes halves since then
        scores = b.node("Add", [scores, mask_of(b, x)])
    y = b.node("MatMul", [b.node("Softmax", [scores], axis=-1 if b.opset >= 11 else 3), v])
    y = b.node("Reshape", [b.node("Transpose", [y], perm=[0, 2, 1, 3]), b.ints(0, b.one_of(0, -1), inner)])
    return Value(b.node("Add", [x.name, b.node("MatMul", [y, b.random(inner, x.channels)])]), "tokens", x.channels)


def mask_of(b, x):
    """0 for tokens that are looked at, else far below 0: for scores, as exporters of transformers write it."""
    y = b.node("ReduceMean", [x.name, b.ints(-1)], keepdims=0) if b.opset >= 18 else b.node("ReduceMean", [x.name], axes=[2], keepdims=0)
    kept = b.node("Greater", [y, b.scalar(-0.3)])
    if b.chance(0.3):
        kept = b.node("Cast", [kept], to=TensorProto.INT64)
    kept = b.node("Cast", [b.unsqueeze(kept, 1, 2)], to=helper.np_dtype_to_tensor_dtype(np.dtype(b.dtype)))
    far = b.scalar(b.one_of(1e4, 6e4) if b.dtype == np.float16 else b.one_of(1e4, 1e9, 1e30, 3.4e38))
    how = b.one_of("1 - m", "m - 1", "far m - far")
    if how == "far m - far":
        return b.node("Sub", [b.node("Mul", [kept, far]), far])
    if how == "m - 1":
        return b.node("Mul", [b.node("Sub", [kept, b.scalar(1)]), far])
    return b.node("Neg", [b.node("Mul", [b.node("Sub", [b.scalar(1), kept]), far])])


@part("tokens", only_float32=True)
def recurrent(b, x):
    op, gates = b.one_of(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    hidden, direction = 3, b.one_of("forward", "reverse", "bidirectional")
    d = 2 if direction == "bidirectional" else 1
    attributes = {"hidden_size": hidden, "direction": direction} | ({"linear_before_reset": 1} if op == "GRU" and b.chance(0.5) else {})
    inputs = [b.node("Transpose", [x.name], perm=[1, 0, 2]), b.random(d, gates * hidden, x.channels), b.random(d, gates * hidden, hidden)]
    if b.chance(0.6):
        inputs.append(b.random(d, 2 * gates * hidden, scale=0.2))
    y, state = b.node(op, inputs, 3 if op == "LSTM" else 2, **attributes)[:2]
    if b.chance(0.3):
        b.extra_outputs.append((state, helper.np_dtype_to_tensor_dtype(b.dtype), None))
    y = b.node("Transpose", [y], perm=[2, 0, 1, 3])  # [n, t, directions, hidden]
    return Value(b.node("Reshape", [y, b.ints(0, 0, -1)]), "tokens", d * hidden)


@part("tokens")
def positions(b, x):
    """A table of positions, cut to the length."""
    t = b.shape_item(x.name, 1)
    table = b.random(1, 512, x.channels)
    cut = b.node("Slice", [table, b.ints(0), t, b.ints(1)]) if b.opset >= 10 else b.node("Gather", [table, b.ints(0)], axis=1)
    return Value(b.node("Add", [x.name, cut]), "tokens", x.channels)


@part("tokens", 11)
def ranges(b, x):
    """Numbers 0 to t - 1, compared with something, as a mask."""
    t = b.squeeze(b.shape_item(x.name, 1), 0)
    steps = b.node("Range", [b.int(0), t, b.int(1)])
    short = b.node("Less", [b.node("Mod", [steps, b.int(b.one_of(2, 3))]), b.int(1)])
    return Value(b.node("Where", [b.unsqueeze(b.unsqueeze(short, 0), 2) if b.chance(0.5) else b.unsqueeze(short, 0, 2), x.name, b.scalar(0)]), "tokens", x.channels)


@part("tokens", 9)
def expanded(b, x):
    n, t = b.shape_item(x.name, 0), b.shape_item(x.name, 1)
    shape = b.node("Concat", [n, t, b.ints(b.one_of(1, x.channels))], axis=0)
    if b.chance(0.5):
        other = b.node("Expand", [b.random(1, x.channels), shape])
    else:
        value = numpy_helper.from_array(np.full(1, 0.25, b.dtype))
        other = b.node("ConstantOfShape", [shape], value=value)
    return Value(b.node("Mul", [b.node("Add", [x.name, other]), b.scalar(0.5)]), "tokens", x.channels)


@part("tokens", 12)
def einsum(b, x):
    return Value(b.node("Einsum", [x.name, b.random(x.channels, 4)], equation="bij,jk->bik"), "tokens", 4)


@part("tokens", 11)
def cumulated(b, x):
    return Value(b.node("CumSum", [x.name, b.int(b.one_of(1, -2))], exclusive=int(b.chance(0.3)), reverse=int(b.chance(0.3))), "tokens", x.channels)


@part("tokens")
def turned(b, x):
    """Transposes that cancel or do not, with something between them."""
    y = b.node("Transpose", [x.name], perm=b.one_of([0, 2, 1], [1, 0, 2], [2, 0, 1]))
    perm = list(b.nodes[-1].attribute[0].ints)
    y = activation(b, y)
    return Value(b.node("Transpose", [y], perm=[perm.index(k) for k in range(3)]), "tokens", x.channels)


@part("tokens")
def softmaxed(b, x):
    return Value(b.node("Mul", [softmax(b, x.name, 3, int(b.one_of(-1, 2, 1))), b.scalar(2)]), "tokens", x.channels)


@part("tokens", 8)
def mixed_axes(b, x):
    """Old softmax flattens from its axis on: along the batch and tokens too."""
    return Value(b.node("Softmax", [x.name], axis=1), "tokens", x.channels)


# ---- flat ----

@part("flat")
def gemm(b, x):
    out, turn = int(b.one_of(3, 5, 8)), int(b.chance(0.5))
    w = b.random(out, x.channels) if turn else b.random(x.channels, out)
    attributes = {"transB": turn} | ({"alpha": 0.5, "beta": float(b.one_of(1, 0.25, 0))} if b.chance(0.4) else {})
    inputs = [x.name, w] + ([b.random(*b.one_of((out,), (1, out), (1,)))] if b.opset < 11 or b.chance(0.8) else [])
    return Value(activation(b, b.node("Gemm", inputs, **attributes), out), "flat", out)


@part("flat")
def shared_products(b, x):
    """Products of one value with several weights, joined."""
    outs = [b.node("MatMul", [x.name, b.random(x.channels, 3)]) for _ in range(3)]
    return Value(b.node("Concat", outs, axis=1), "flat", 9)


@part("flat")
def arithmetic(b, x):
    """Whole numbers of both signs: integer division, and casts there and back."""
    q = b.node("Cast", [b.node("Mul", [x.name, b.scalar(10)])], to=b.one_of(TensorProto.INT32, TensorProto.INT64))
    dtype = np.int32 if b.nodes[-1].attribute[0].i == TensorProto.INT32 else np.int64
    three, five = b.weight(3, dtype), b.weight(5, dtype)
    y = b.node("Div", [b.node("Mul", [q, three]), five]) if b.chance(0.5) else b.node("Mul", [b.node("Div", [q, five]), three])
    y = b.node("Sub", [y, b.node("Add", [q, five])])
    return Value(b.node("Cast", [y], to=helper.np_dtype_to_tensor_dtype(b.dtype)), "flat", x.channels)


@part("flat", 9)
def compared(b, x):
    mask = b.node(b.one_of("Greater", "Less"), [x.name, b.scalar(0.1)])
    if b.chance(0.5):
        mask = b.node(b.one_of("And", "Or", "Xor"), [mask, b.node("Not", [mask])])
    return Value(b.node("Where", [mask, x.name, b.node("Neg", [x.name])]), "flat", x.channels)


@part("flat")
def reduced(b, x):
    op = b.one_of("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp", "ReduceProd")
    since = 13 if op == "ReduceSum" else 18
    r = b.axes(op, x.name, [b.one_of(1, -1) if b.opset >= 11 else 1], 1, since)
    return Value(b.node("Sub", [x.name, r]), "flat", x.channels)


@part("flat", 11)
def top(b, x):
    values, index = b.node("TopK", [x.name, b.ints(2)], 2, axis=-1)
    b.extra_outputs.append((index, TensorProto.INT64, None))
    return Value(values, "flat", 2)


@part("flat")
def powers(b, x):
    y = b.node("Abs", [x.name])
    exponent = float(b.one_of(2, 0.5, 1, 0, -1, 3))
    return Value(b.node("Pow", [b.node("Add", [y, b.scalar(0.5)]), b.scalar(exponent)]), "flat", x.channels)


@part("flat")
def scaled(b, x):
    """Chains of sums and products with numbers, of which some are 0 or 1."""
    y = x.name
    for _ in range(4):
        y = b.node(b.one_of("Add", "Mul", "Sub", "Div"), [y, b.scalar(float(b.one_of(1, 2, -1, 0.5, 3)))])
    return Value(b.node("Add", [y, b.node("Mul", [x.name, b.scalar(0)])]), "flat", x.channels)
