"""Models whose numbers decide: halves and comparisons computed at export, factors beyond a type's range, infinite bounds, integers
that no double holds, -0.0, denormal weights, defaults that a caller overrides. `rlgo optimise --force` writes what it read in
any case; in ONNX Runtime both must compute the same, one output's rounding next to another's included."""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import _random_runs
from _sessions import session

RNG = np.random.default_rng(7)
F16, F32, F64, I64 = TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64
TYPES = {"float16": F16, "float32": F32, "float64": F64, "int64": I64}


class Net:
    """One input x, and operators by call: net.Mul("x", np.float32(2)). Constants are initialisers."""

    def __init__(self, shape=(3, 30), dtype="float32", opset=17):
        self.nodes, self.weights, self.inputs, self.outputs, self.feeds, self.opset = [], [], [], [], {}, opset
        self.input("x", shape, dtype)

    def input(self, name, shape, dtype):
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[dtype], shape))
        self.feeds[name] = (RNG.standard_normal(shape) * (1 if dtype[0] == "f" else 9)).astype(dtype)

    def default(self, name, value, instead):
        """An initialiser that is an input, too; the caller gives `instead`."""
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[str(value.dtype)], value.shape))
        self.weights.append(numpy_helper.from_array(value, name))
        self.feeds[name] = instead
        return name

    def __getattr__(self, op):
        def add(*inputs, **attributes):
            names = []
            for value in inputs:
                if not isinstance(value, (str, type(None))):
                    self.weights.append(numpy_helper.from_array(np.asarray(value), f"w{len(self.weights)}"))
                    value = self.weights[-1].name
                names.append(value or "")
            self.nodes.append(helper.make_node(op, names, [f"v{len(self.nodes)}"], **attributes))
            return self.nodes[-1].output[0]

        return add

    def model(self, outputs):
        graph = helper.make_graph(self.nodes, "numbers", self.inputs, [onnx.ValueInfoProto(name=o) for o in outputs], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        types = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.value_info}
        for output in model.graph.output:
            output.type.tensor_type.elem_type = types[output.name].type.tensor_type.elem_type
            if not self.weights or all(w.name not in self.feeds for w in self.weights):
                output.type.CopyFrom(types[output.name].type)
        return model


def f32(*values):
    return np.array(values, np.float32)


def i64(*values):
    return np.array(values, np.int64)


def halves():
    net, w = Net(), (RNG.standard_normal((30, 20)) * 3).astype(np.float32)
    high = net.Cast(net.Cast(w, to=F16), to=F32)
    return net, [net.MatMul("x", high), net.MatMul("x", net.Sub(w, high))]


def doubles():
    net, w = Net(dtype="float64"), RNG.standard_normal((30, 20))
    high = net.Cast(net.Cast(w, to=F32), to=F64)
    return net, [net.MatMul("x", net.Sub(w, high)), net.Gemm("x", RNG.standard_normal((30, 4)), alpha=0.3)]


def mask_that_overflows():
    net = Net((2, 100))
    mask = np.where(np.tri(2, 100, 40) > 0, 0, -1e6).astype(np.float32)
    masked = net.Add("x", net.Cast(net.Cast(mask, to=F16), to=F32))
    return net, [net.Softmax(masked), net.Abs(masked)]


def compared_weights():
    net, w = Net((400,)), (np.arange(400) / 7).astype(np.float32)
    return net, [net.Where(net.Equal(net.Mul(w, f32(0.1)), net.Div(w, f32(10))), "x", net.Neg("x"))]


def rounding_trick():
    net, w = Net((200,)), np.arange(200).astype(np.float32)
    index = net.Cast(net.Sub(net.Add(w, f32(2**24)), f32(2**24)), to=I64)
    return net, [net.Gather("x", net.Min(index, i64(199)))]


def overflow_on_the_way():
    net = Net((100,))
    return net, [net.Add("x", net.Log(net.Exp(np.linspace(60, 120, 100).astype(np.float32))))]


def factors_beyond_range():
    net = Net((8, 16))
    net.feeds["x"][0] = 0
    return net, [net.Mul(net.Mul("x", f32(1e25)), f32(1e25)), net.Mul(net.Mul("x", f32(1e30)), f32(1e-30))]


def halves_beyond_range_beside_noise():
    net = Net((8, 16), "float16")
    x = net.Cast("x", to=F32)
    return net, [net.Div(net.Div("x", np.float16(300)), np.float16(300)),
                 net.Sub(net.ReduceMean(net.Mul(net.Add(x, f32(3e4)), net.Add(x, f32(3e4)))), net.Mul(net.ReduceMean(net.Add(x, f32(3e4))), net.ReduceMean(net.Add(x, f32(3e4)))))]


def bounds():
    net = Net((4, 6))
    return net, [net.Clip("x", None, f32(-np.inf)[0]), net.Clip("x", f32(np.inf)[0]), net.Clip("x", f32(-np.inf)[0], f32(1)[0])]


def minus_zero():
    net = Net((1, 4), opset=13)
    return net, [net.Div(f32(1), net.Pad("x", i64(0, 1, 0, 1), f32(-0.0)[0]))]


def large_integers():
    net = Net((4, 5), "int64", opset=13)
    return net, [net.Pad("x", i64(1, 1, 0, 2), np.int64(2**53 + 1)), net.Pad("x", i64(1, 1, 0, 2), np.int64(-(2**63) + 1))]


def denormal_weights():
    net, w = Net((16,)), np.full(16, 1e-40, np.float32)
    return net, [net.Cast(net.Greater(net.Mul("x", f32(0)), net.Neg(w)), to=F32), net.Div("x", w)]


def overridden_shape():
    net = Net((4, 6))
    return net, [net.Relu(net.Reshape("x", net.default("shape", i64(6, 4), i64(3, 8)))), net.Relu(net.Expand(net.ReduceSum("x"), net.default("wide", i64(1, 2), i64(5, 7))))]


def overridden_parts():
    net = Net((4, 6))
    part = net.Slice("x", net.default("start", i64(1), i64(2)), i64(4), i64(0))
    return net, [net.Shape(part), net.Cast(net.Size(part), to=F32), net.Add("x", net.ReduceMax(net.ConstantOfShape(net.default("n", i64(2), i64(3)))))]


def range_of_floats():
    net = Net((1,))
    numbers = net.Range(f32(-0.37)[0], f32(0.96)[0], f32(0.01)[0])
    return net, [net.Mul("x", net.Cast(net.Size(numbers), to=F32)), net.Add("x", numbers)]


def backwards_to_the_largest_end():
    net = Net((5,))
    back = net.Slice(np.arange(5, dtype=np.float32), i64(-1), i64(2**63 - 1), i64(0), i64(-1))
    return net, [net.Mul("x", net.ReduceSum(back)), net.Mul("x", net.Cast(net.Size(back), to=F32))]


def magic_rounding():
    net = Net((40,))
    net.feeds["x"] *= 50
    whole, half = net.Sub(net.Add("x", f32(12582912)), f32(12582912)), net.Cast("x", to=F16)
    return net, [whole, net.Sub(f32(2**23), net.Sub(f32(2**23), net.Abs("x"))), net.Add(net.Add("x", f32(1e8)), f32(-1e8)),
                 net.Sub(net.Add(half, np.float16(1536)), np.float16(1536)), net.Sub(net.Add("x", np.full(40, 2**20, np.float32)), np.full(40, 2**20, np.float32))]


def beside_a_rule_s_number():
    net, near = Net((50,), "float64"), np.float64(0.5000004)
    net.feeds["x"] = np.abs(net.feeds["x"]) * 1e3
    return net, [net.Pow("x", near), net.Mul("x", np.float64(1.0000004)), net.Add("x", np.float64(4e-7)), net.Pow("x", np.float64(2.0000004))]


def infinities_between():
    net = Net((4, 8))
    x = net.Mul("x", f32(1e30))
    large = net.Mul(x, f32(1e30))  # infinite
    return net, [net.Relu(large), net.Max(large, f32(0)), net.Min(large, f32(3)), net.Max(net.Neg(large), f32(1e-3)),
                 net.Div(f32(1), net.Max(net.Abs(large), f32(1e-6)))]


def infinities_of_old_opsets():
    net = Net((4, 8), opset=8)
    large = net.Mul(net.Mul("x", f32(1e30)), f32(1e30))
    return net, [net.Relu(large), net.Max(large, f32(0)), net.Max(net.Neg(large), f32(1e-3))]


def dilated_pooling():
    net = Net((1, 2, 9, 11))
    return net, [net.Relu(net.MaxPool("x", kernel_shape=[3, 3], dilations=[2, 2], strides=[2, 2], auto_pad=pad)) for pad in ("SAME_UPPER", "SAME_LOWER", "VALID")]


def exponents_of_another_type():
    net = Net((30,))
    net.feeds["x"] = np.abs(net.feeds["x"]) + 1
    return net, [net.Pow("x", np.float64(1.1)), net.Pow("x", np.float64(0.1)), net.Pow("x", np.int64(3)), net.Pow("x", np.float64(2))]


def steps():
    """Inputs on the steps: a quotient of whole numbers is a whole number every third time."""
    net = Net((300,))
    net.feeds["x"] = np.arange(300, dtype=np.float32)
    thirds, tenths = net.Div("x", f32(3)), net.Mul(net.Mul("x", f32(0.1)), f32(10))
    spread = net.Add(net.Mul("x", f32(0.1)), net.Mul("x", f32(0.2)))
    return net, [net.Floor(thirds), net.Cast(net.Div(net.Mul("x", f32(7)), f32(49)), to=I64), net.Cast(net.Equal(tenths, "x"), to=F32),
                 net.Ceil(net.Mul(net.Div("x", f32(7)), f32(7))), net.Round(net.Mul(net.Sub("x", f32(0.5)), f32(1))), net.Sign(net.Sub(spread, net.Mul("x", f32(0.3)))),
                 net.Mod(net.Div(net.Mul("x", f32(3)), f32(9)), f32(1), fmod=1)]


def slopes_that_are_steps():
    """As exporters write comparisons for runtimes that have none."""
    net = Net((300,))
    net.feeds["x"] = np.arange(300, dtype=np.float32)
    whole = np.round(np.arange(300) * 7 / 3).astype(np.float32)  # every third is where the slope stands
    distance = net.Sub(net.Mul(net.Div("x", f32(3)), f32(7)), whole)
    return net, [net.Clip(net.Mul(distance, f32(1e6)), np.float32(0), np.float32(1)), net.Sigmoid(net.Mul(distance, f32(1e7))), net.Tanh(net.Div(distance, f32(1e-7)))]


def standardised():
    """Days since 4713 BC: x - mean is exact, x W - mean W is not."""
    net = Net((256, 8))
    net.feeds["x"] = (2459000 + np.round(RNG.standard_normal((256, 8)) * 40) / 4).astype(np.float32)
    mean, weights = np.full(8, 2459000, np.float32), RNG.standard_normal((8, 32)).astype(np.float32)
    halves = net.Concat(net.Sub(net.Slice("x", i64(0), i64(4), i64(1)), f32(2459000)), net.Mul(net.Slice("x", i64(4), i64(8), i64(1)), f32(1e-6)), axis=1)
    return net, [net.Relu(net.MatMul(net.Sub("x", mean), weights)), net.Gemm(net.Div(net.Sub("x", mean), f32(10)), weights, weights[0]),
                 net.ReduceMean(net.Sub("x", mean)), net.Gemm(halves, weights, weights[0])]


def quantised_pixels():
    net = Net((4, 3, 8, 8))
    net.feeds["x"] = RNG.integers(0, 256, (4, 3, 8, 8)).astype(np.float32)
    scaled = net.Div(net.Sub(net.Div("x", f32(255)), f32(0.5)), f32(0.5))
    return net, [net.QuantizeLinear(scaled, f32(1 / 127.5)[0], np.int8(0)), net.Relu(net.Conv(scaled, RNG.standard_normal((5, 3, 3, 3)).astype(np.float32)))]


def rounding_by_inputs():
    """x + b - b, where b comes from the caller or is computed."""
    net = Net((4, 40))
    net.feeds["x"] *= 50
    net.input("b", (4, 40), "float32")
    net.feeds["b"] = np.full((4, 40), 12582912, np.float32)
    twice, largest = net.Mul("b", f32(2)), net.ReduceMax("b", axes=[1])
    return net, [net.Sub(net.Add("x", "b"), "b"), net.Add(net.Add("x", "b"), net.Neg("b")), net.Sub("b", net.Sub("b", "x")), net.Add(net.Add("x", "b"), net.Mul("b", f32(-1))),
                 net.Sub(net.Sub(net.Add("x", twice), "b"), "b"), net.Sub(net.Add("x", largest), largest), net.Sub(net.Add(net.Add("x", "b"), largest), net.Add(largest, "b"))]


def masks_of_infinity():
    """A row of -inf under a softmax is NaN, whatever is added to it."""
    net = Net((4, 8))
    mask = f32(0, 0, -np.inf, 0).reshape(4, 1)
    net.input("k", (4, 1), "float32")
    net.feeds["k"] = f32(1, -200, 200, 0).reshape(4, 1)
    made = net.Where(net.Greater("k", f32(100)), f32(0), f32(-np.inf))  # random inputs see rows of -inf alone
    seldom = net.Where(net.Less("k", f32(-100)), f32(-np.inf), f32(0))  # and here none
    across = net.Transpose(np.ascontiguousarray(mask.T), perm=[1, 0])
    return net, [net.Softmax(net.Add("x", mask)), net.Softmax(net.Add("x", made)), net.Softmax(net.Sub("x", made)), net.Softmax(net.Add("x", seldom)), net.Softmax(net.Sub("x", net.Neg(seldom))), net.Softmax(net.Add("x", across)),
                 net.LayerNormalization(net.Add("x", mask), np.ones(8, np.float32)), net.Softmax(net.Add("x", net.Log(f32(1, 1, 0, 1).reshape(4, 1)))),
                 net.Relu(net.Mul(net.Add("x", net.Neg("x")), net.Neg(mask)))]


def poles():
    """Every third distance is 0."""
    net = Net((300,))
    net.feeds["x"] = np.arange(300, dtype=np.float32)
    distance = net.Sub(net.Mul(net.Div("x", f32(3)), f32(7)), np.round(np.arange(300) * 7 / 3).astype(np.float32))
    return net, [net.Div(f32(1), distance), net.Log(distance), net.Sqrt(distance), net.Pow(distance, f32(-1)), net.Pow(distance, f32(0.5)), net.Reciprocal(distance)]


def empty_batches():
    net = Net((2, 3, 5, 4))
    net.inputs[0] = helper.make_tensor_value_info("x", F32, ["n", 3, "h", "w"])
    net.feeds["x"] = net.feeds["x"][:0]
    thin = net.Squeeze(net.ReduceMean("x", axes=[1], keepdims=1), i64(1))
    return net, [net.Flatten(net.Relu("x")), net.Unsqueeze(net.Relu(thin), i64(1, 2))]


def outputs_listed_twice():
    net = Net((3, 4))
    y = net.Relu(net.Relu("x"))
    return net, [y, net.Neg(y), y]


CASES = [halves, doubles, mask_that_overflows, compared_weights, rounding_trick, slopes_that_are_steps, overflow_on_the_way, factors_beyond_range, halves_beyond_range_beside_noise,
         bounds, minus_zero, large_integers, denormal_weights, overridden_shape, overridden_parts, range_of_floats, backwards_to_the_largest_end, magic_rounding, beside_a_rule_s_number,
         infinities_between, infinities_of_old_opsets, dilated_pooling, exponents_of_another_type, steps, quantised_pixels, standardised,
         rounding_by_inputs, masks_of_infinity, poles, empty_batches, outputs_listed_twice]


def run(path, feeds, level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL):
    return session(path, level).run(None, feeds)


def faults(case, folder):
    """What is wrong with the result of one case: lines."""
    net, outputs = case()
    source, target = folder / f"{case.__name__}.onnx", folder / f"{case.__name__}.out.onnx"
    onnx.save(net.model(outputs), source)
    command = [_random_runs.RLGO, "optimise", source, "-o", target, "--force", "--seconds", "1", "--target", "libtorch", "--cost", "analytic"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=_random_runs.LIMIT_S, check=False)
    if done.returncode not in (0, 3):
        return [f"status {done.returncode}: {done.stderr.strip()[-300:]}"]
    if not target.exists():
        return []
    found = []
    expected, usual = run(source, net.feeds), run(source, net.feeds, ort.GraphOptimizationLevel.ORT_ENABLE_ALL)
    try:
        got = run(target, net.feeds)
    except Exception as error:  # what ONNX Runtime raises has no common class
        return [f"the result does not run: {str(error)[:300]}"]
    for name, a, also, b in zip(outputs, expected, usual, got, strict=True):
        noise = _random_runs.error_of(a, also)  # what the runtime itself changes
        error = _random_runs.error_of(a, b)
        tolerance = 1e-10 if a.dtype == np.float64 else 2e-2 if a.dtype == np.float16 else 1e-5
        if error > max(tolerance, 8 * noise):
            found.append(f"output {name}: error {error:.2g}, the runtime's own {noise:.2g}")
    return found


def main():
    if not _random_runs.RLGO.is_file():
        print("rlgo is not built: skipped")
        return 77
    wanted = [c for c in CASES if not sys.argv[1:] or c.__name__ in sys.argv[1:]]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in wanted:
            found = faults(case, Path(folder))
            failed += bool(found)
            print(f"{case.__name__}: {'; '.join(found) or 'the same'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
