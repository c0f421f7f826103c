"""Parts of typed random models (_typed_models.py). Unlike _random_parts.py, which writes what exporters write, a part takes any
value of a pool whose type and shape fit: float16 to double, integers, truth values, ranks 0 to 5, extents 0 and 1.

A value is (name, dtype, shape); an item of a shape is a number or the name of an open dimension.
"""
import collections

import numpy as np
from onnx import helper, numpy_helper

Value = collections.namedtuple("Value", "name dtype shape")
FLOATS = (np.float16, np.float32, np.float64)
PARTS = []  # functions of a Builder, as often as their weight says


def part(weight=1):
    def add(function):
        PARTS.extend([function] * weight)
        return function
    return add


def onnx_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


class NothingFits(Exception):
    """The part needs what the pool or the opset does not have."""


class Builder:
    def __init__(self, seed, opset, prefix=""):
        self.rng = np.random.default_rng(seed)
        self.opset, self.prefix = opset, prefix
        self.nodes, self.weights, self.pool, self.functions = [], [], [], []
        self.overridable = []  # names of weights that are inputs, too
        self.count = 0

    def one(self, *items):
        return items[int(self.rng.integers(len(items)))]

    def chance(self, p):
        return self.rng.random() < p

    def since(self, opset):
        if self.opset < opset:
            raise NothingFits

    def name(self):
        self.count += 1
        return f"{self.prefix}v{self.count}"

    def const(self, array):
        """The name of a new initialiser; some are inputs, too."""
        name = self.name()
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        if not self.prefix and self.chance(0.03):
            self.overridable.append(name)
        return name

    def ints(self, *numbers):
        return self.const(np.array(numbers, np.int64))

    def node(self, op, inputs, outputs=1, domain="", **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=self.one("", f"{self.prefix}n{self.count}"), domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def add(self, name, dtype, shape):
        self.pool.append(Value(name, dtype, tuple(shape)))

    def pick(self, wanted=lambda v: True):
        """A value that fits, later ones more often. Not strings: few operators take them."""
        found = [v for v in self.pool if v.dtype != np.object_ and wanted(v)]
        if not found:
            raise NothingFits
        return found[min(len(found) - 1, int(len(found) * (1 - self.rng.random() ** 2)))]

    def like(self, v):
        """A value of v's type and shape: v itself or another."""
        return self.pick(lambda o: o.dtype == v.dtype and o.shape == v.shape)

    def known_axis(self, v, least=1):
        """An axis whose extent is a number of at least `least`."""
        axes = [k for k, d in enumerate(v.shape) if isinstance(d, int) and d >= least]
        if not axes:
            raise NothingFits
        return self.one(*axes)

    def weight(self, dtype, shape):
        """Random numbers; among them ones, zeros, tiny ones, NaN and infinities."""
        if dtype == np.bool_:
            return self.rng.random(shape) < 0.5
        if np.dtype(dtype).kind != "f":
            return self.rng.integers(-3 if np.dtype(dtype).kind == "i" else 0, 4, shape).astype(dtype)
        a = np.asarray(self.rng.standard_normal(shape))
        kind = int(self.rng.integers(30))
        changes = {1: a * 0 + 1, 2: a * 0 + 1, 3: a * 0, 4: a * 1e-3, 5: -np.abs(a)}
        a = np.asarray(changes.get(kind, a)).astype(dtype)
        if kind == 0 and a.size:
            a.flat[int(self.rng.integers(a.size))] = self.one(np.nan, np.inf, -np.inf)
        return a

    def axes(self, op, name, axes, since, **attributes):
        """An operator whose axes became an input in opset `since`."""
        if self.opset < since:
            return self.node(op, [name], axes=axes, **attributes)
        return self.node(op, [name, self.ints(*axes)], **attributes)

    def try_one(self, parts):
        """Adds one of the parts, or nothing."""
        kept = [len(x) for x in (self.nodes, self.weights, self.pool, self.functions, self.overridable)]
        try:
            self.one(*parts)(self)
        except NothingFits:
            for items, n in zip((self.nodes, self.weights, self.pool, self.functions, self.overridable), kept):
                del items[n:]


def is_float(v):
    return v.dtype in FLOATS


def is_f32(v):
    return v.dtype == np.float32


def is_wide(v):
    return v.dtype in (np.float32, np.float64)


def full(v):
    """Of rank 1 or more, without an extent of 0."""
    return len(v.shape) >= 1 and 0 not in v.shape


def ends_known(v, rank=2):
    return len(v.shape) >= rank and isinstance(v.shape[-1], int) and v.shape[-1] > 0


SAFE = {"Sqrt": "Abs", "Log": "Abs", "Reciprocal": "Exp", "Exp": "Tanh"}  # what keeps their arguments in range
UNARY = ("Relu Sigmoid Tanh Neg Abs Exp Sqrt Identity Elu LeakyRelu Softplus Softsign Erf Ceil Floor Selu HardSigmoid Clip Sign Reciprocal "
         "Round Sin Log").split()
SINCE = {"Erf": 9, "Sign": 9, "Round": 11}


@part(8)
def unary(b):
    v = b.pick(is_float)
    op = b.one(*UNARY)
    b.since(SINCE.get(op, 7))
    inputs, attributes = [v.name], {}
    if op == "Clip":
        low, high = sorted(float(x) for x in b.rng.standard_normal(2))
        if b.opset < 11:
            attributes = {"min": low, "max": high}
        else:  # either bound may be left out
            inputs += [b.const(np.array(low, v.dtype)) if b.chance(0.7) else ""]
            inputs += [b.const(np.array(high, v.dtype))] if b.chance(0.8) else []
    if op in ("Elu", "LeakyRelu", "HardSigmoid") and b.chance(0.5):
        attributes = {"alpha": float(b.rng.normal())}
    if op in SAFE:
        inputs = [b.node(SAFE[op], inputs)]
    b.add(b.node(op, inputs, **attributes), v.dtype, v.shape)


@part()
def whole_unary(b):
    v = b.pick(lambda v: np.dtype(v.dtype).kind == "i")
    b.since(9)
    b.add(b.node(b.one("Neg", "Abs", "Sign"), [v.name]), v.dtype, v.shape)


def operand(b, v):
    """A value of the same shape, or a weight that is broadcast."""
    if b.chance(0.5):
        return b.like(v).name
    last = [d if isinstance(d, int) and k == len(v.shape) - 1 else 1 for k, d in enumerate(v.shape)]
    channel = [d if isinstance(d, int) and k == 1 else 1 for k, d in enumerate(v.shape)]
    return b.const(b.weight(v.dtype, b.one([], [1], last, channel)))


@part(9)
def binary(b):
    v = b.pick(lambda v: v.dtype != np.bool_)
    left, right = b.one((v.name, operand(b, v)), (operand(b, v), v.name))
    op = b.one("Add", "Sub", "Mul", "Add", "Mul", "Min", "Max", "Sum", "Mean")
    if op in ("Sum", "Mean", "Min", "Max") and not (is_float(v) and b.opset >= 8):
        b.since(12)
        op = b.one("Min", "Max")
    b.add(b.node(op, [left, right]), v.dtype, v.shape)


@part(3)
def divide(b):
    """Div, Mod, Pow, PRelu: the second operand is one that has a value everywhere."""
    v = b.pick(lambda v: v.dtype != np.bool_)
    floats = is_float(v)
    op = b.one("Div", "Mod", "Pow", "PRelu")
    right, attributes = b.const(np.array(b.one(1, 2, 3), v.dtype)), {}
    if op == "Div" and floats:
        right = b.node("Add", [b.node("Abs", [operand(b, v)]), b.const(np.array(0.5, v.dtype))])
    elif op == "Div" and np.dtype(v.dtype).kind == "i":
        right = b.const(np.array(b.one(1, 3, -2), v.dtype))
    elif op == "Mod":
        b.since(10)
        attributes = {"fmod": 1} if floats else {}
    elif op == "Pow":
        b.since(7 if is_wide(v) else 13)
        right = b.const(np.array(b.one(0, 1, 2, 3), v.dtype))
    elif op == "PRelu":
        if not is_f32(v):
            raise NothingFits
        right = b.const(b.weight(v.dtype, [1] * len(v.shape)))
    b.add(b.node(op, [v.name, right], **attributes), v.dtype, v.shape)


@part(2)
def cast(b):
    v = b.pick()
    to = b.one(np.float32, np.float16, np.float64, np.int64, np.int32, np.uint8, np.int8, np.bool_)
    name = v.name
    if np.dtype(v.dtype).kind == "f" and np.dtype(to).kind in "iu":  # numbers that the type has
        name = b.node("Cast", [b.node("Tanh", [name])], to=onnx_type(np.float32))
    b.add(b.node("Cast", [name], to=onnx_type(to)), to, v.shape)


@part()
def bfloat16(b):
    """There and back: few kernels take it."""
    b.since(13)
    v = b.pick(is_f32)
    b.add(b.node("Cast", [b.node("Cast", [v.name], to=16)], to=1), v.dtype, v.shape)


@part(2)
def compare(b):
    b.since(11)
    v = b.pick(lambda v: v.dtype in (np.float32, np.float64, np.int64, np.int32))
    c = b.node(b.one("Greater", "Less", "Equal"), [v.name, b.const(np.array(b.one(0, 1), v.dtype))])
    b.add(c, np.bool_, v.shape)
    if b.chance(0.7):
        w = b.pick(lambda w: w.shape == v.shape and w.dtype in (np.float32, np.int64))
        b.add(b.node("Where", [c, w.name, b.const(b.weight(w.dtype, []))]), w.dtype, v.shape)


@part()
def logic(b):
    v = b.pick(lambda v: v.dtype == np.bool_)
    inputs, op = ([v.name], "Not") if b.chance(0.3) else ([v.name, b.like(v).name], b.one("And", "Or", "Xor"))
    b.add(b.node(op, inputs), np.bool_, v.shape)


@part(3)
def transpose(b):
    v = b.pick()
    if b.chance(0.2) or not v.shape:
        return b.add(b.node("Transpose", [v.name]), v.dtype, v.shape[::-1])
    order = [int(k) for k in b.rng.permutation(len(v.shape))]
    return b.add(b.node("Transpose", [v.name], perm=order), v.dtype, [v.shape[k] for k in order])


@part(2)
def squeeze(b):
    v = b.pick(lambda v: len(v.shape) < 5)
    ones = [k for k, d in enumerate(v.shape) if d == 1]
    if ones and b.chance(0.5):
        k = b.one(*ones)
        return b.add(b.axes("Squeeze", v.name, [k], 13), v.dtype, v.shape[:k] + v.shape[k + 1:])
    k = int(b.rng.integers(len(v.shape) + 1))
    return b.add(b.axes("Unsqueeze", v.name, [k], 13), v.dtype, v.shape[:k] + (1,) + v.shape[k:])


@part(2)
def reshape(b):
    """Two neighbours become one; with 0 and -1 where they fit, or by way of Shape."""
    v = b.pick(lambda v: len(v.shape) >= 2)
    k = int(b.rng.integers(len(v.shape) - 1))
    two, tail = v.shape[k:k + 2], v.shape[k + 2:]
    if not all(isinstance(d, int) for d in two):
        return b.add(b.node("Reshape", [v.name, b.node("Shape", [v.name])]), v.dtype, v.shape)
    if sum(isinstance(d, str) for d in tail) > 1 or 0 in v.shape:
        raise NothingFits
    merged = -1 if b.chance(0.3) and all(isinstance(d, int) for d in tail) else two[0] * two[1]
    items = [0] * k + [merged] + [-1 if isinstance(d, str) else d for d in tail]
    return b.add(b.node("Reshape", [v.name, b.ints(*items)]), v.dtype, v.shape[:k] + (two[0] * two[1],) + tail)


@part()
def flatten(b):
    v = b.pick(lambda v: len(v.shape) >= 2 and all(isinstance(d, int) for d in v.shape[1:]))
    if b.opset < 9 and not is_float(v):
        raise NothingFits
    b.add(b.node("Flatten", [v.name], axis=1), v.dtype, (v.shape[0], int(np.prod(v.shape[1:]))))


@part(3)
def concat(b):
    """Of one to four values; one may be of size zero."""
    v = b.pick()
    k = b.known_axis(v, 0)

    def fits(o):
        return o.dtype == v.dtype and len(o.shape) == len(v.shape) and isinstance(o.shape[k], int) and all(i == k or d == e for i, (d, e) in enumerate(zip(o.shape, v.shape)))
    values = [v] + [b.pick(fits) for _ in range(int(b.rng.integers(0, 3)))]
    total = sum(o.shape[k] for o in values)
    names = [o.name for o in values]
    if b.chance(0.1) and all(isinstance(d, int) for d in v.shape):
        names.append(b.const(np.zeros([0 if i == k else d for i, d in enumerate(v.shape)], v.dtype)))
    if total > 64:
        raise NothingFits
    b.add(b.node("Concat", names, axis=k if b.opset < 11 or b.chance(0.7) else k - len(v.shape)), v.dtype, v.shape[:k] + (total,) + v.shape[k + 1:])


@part(2)
def split(b):
    v = b.pick()
    k = b.known_axis(v, 2)
    first = int(b.rng.integers(1, v.shape[k]))
    sizes = [first, v.shape[k] - first]
    names = b.node("Split", [v.name], 2, axis=k, split=sizes) if b.opset < 13 else b.node("Split", [v.name, b.ints(*sizes)], 2, axis=k)
    for name, d in zip(names, sizes):
        b.add(name, v.dtype, v.shape[:k] + (d,) + v.shape[k + 1:])
    if b.chance(0.3):
        b.add(b.node("Concat", b.one(names, names[::-1]), axis=k), v.dtype, v.shape)


@part(2)
def slice_(b):
    """Steps of both signs; what is left may be empty."""
    b.since(10)
    v = b.pick()
    k = b.known_axis(v)
    start, end, step = b.one((0, 1, 1), (0, 2**63 - 1, 2), (-1, -(2**63) + 1, -1), (1, 2**31 - 1, 1), (-2, v.shape[k], 1), (0, 0, 1))
    left = len(range(v.shape[k])[slice(start, end, step)])
    b.add(b.node("Slice", [v.name, *(b.ints(i) for i in (start, end, k, step))]), v.dtype, v.shape[:k] + (left,) + v.shape[k + 1:])


@part()
def pad(b):
    b.since(11)
    v = b.pick(is_wide)
    k = b.known_axis(v)
    before, after = b.one((1, 0), (0, 2), (1, 1), (-1, 1), (0, 0))
    pads = [0] * 2 * len(v.shape)
    pads[k], pads[k + len(v.shape)] = before, after
    inputs = [v.name, b.ints(*pads)] + ([b.const(np.array(b.one(0, 1.5), v.dtype))] if b.chance(0.6) else [])
    b.add(b.node("Pad", inputs), v.dtype, v.shape[:k] + (v.shape[k] + before + after,) + v.shape[k + 1:])


@part()
def gather(b):
    v = b.pick(lambda v: len(v.shape) <= 4)
    k = b.known_axis(v)
    low = -v.shape[k] if b.opset >= 11 else 0
    at = b.rng.integers(low, v.shape[k], b.one((), (1,), (2,), (2, 2), (0,)))
    b.add(b.node("Gather", [v.name, b.const(np.asarray(at).astype(b.one(np.int64, np.int32)))], axis=k), v.dtype, v.shape[:k] + np.shape(at) + v.shape[k + 1:])


@part()
def expand(b):
    b.since(8)
    v = b.pick(lambda v: v.dtype in (np.float32, np.int64) and 1 in v.shape)
    to = [3 if d == 1 and b.chance(0.6) else d for d in v.shape]
    b.add(b.node("Expand", [v.name, b.ints(*(d if isinstance(d, int) else 1 for d in to))]), v.dtype, to)


@part()
def tile(b):
    v = b.pick(lambda v: is_f32(v) and all(isinstance(d, str) or d < 8 for d in v.shape))
    times = [2 if isinstance(d, int) and b.chance(0.3) else 1 for d in v.shape]
    b.add(b.node("Tile", [v.name, b.ints(*times)]), v.dtype, [d if n == 1 else d * n for d, n in zip(v.shape, times)])


@part()
def from_shape(b):
    b.since(9)
    v = b.pick(lambda v: len(v.shape) >= 1)
    shape = b.node("Shape", [v.name])
    one = b.node("Gather", [shape, b.ints(int(b.rng.integers(len(v.shape))))])
    b.add(one, np.int64, (1,))
    b.add(b.node("Cast", [one], to=1), np.float32, (1,))
    if b.chance(0.3):
        b.add(b.node("ConstantOfShape", [shape], value=helper.make_tensor("", 1, [1], [b.one(0.0, 1.0, -2.0)])), np.float32, v.shape)
