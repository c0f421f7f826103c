"""rlgo optimise keeps results in the range of numbers: factors that are inputs, tiny constants, half precision; and reads half-precision bounds."""
import sys

import numpy as np
import onnx
from _rlgo import main, rlgo, run_onnx

NODE, ARRAY, T = onnx.helper.make_node, onnx.numpy_helper.from_array, onnx.TensorProto
QUICK = ["--target", "onnxruntime", "--target.python", sys.executable, "--cost.folder", "", "--cost", "analytic", "--check.repeats", "3", "--seconds", "1", "--force", "--verbose"]


def save(path, nodes, inputs, outputs, weights=(), dtype=T.FLOAT, opset=17):
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "g", [value(name, dtype, shape) for name, shape in inputs.items()], [value(name, dtype, None) for name in outputs], list(weights))
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8), path)


def optimised(folder):
    """the result's file, which some rewrite made"""
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", *QUICK, cwd=folder, status=None)
    text = done.stdout + done.stderr
    assert done.returncode in (0, 3) and "differs" not in text and "wrong" not in text, text
    return folder / "out.onnx"


def same(folder, feeds, tolerance=1e-3):
    for feed in feeds:
        before, after = run_onnx(folder / "toy.onnx", feed), run_onnx(folder / "out.onnx", feed)
        for expected, got in zip(before, after, strict=True):
            np.testing.assert_allclose(got.astype("f8"), expected.astype("f8"), rtol=tolerance)


def run_time_factors(folder):
    """x a c and x / a / c with a, c of 1e-23 to 1e20: neither a c nor 1 / a is computed"""
    nodes = [NODE("Relu", ["x"], ["p"]), NODE("Relu", ["p"], ["q"]), NODE("Mul", ["q", "a"], ["r"]), NODE("Mul", ["r", "c"], ["y"]), NODE("Div", ["q", "a"], ["s"]), NODE("Div", ["s", "c"], ["z"])]
    save(folder / "toy.onnx", nodes, {"x": [64, 32], "a": [], "c": []}, "yz")
    optimised(folder)
    x = np.abs(np.random.default_rng(0).standard_normal((64, 32))).astype("f") + 0.1
    scales = ((1, 1, 1), (1e-10, 1, 1e20), (1e-23, 1e-24, 1e-20), (1e20, 1e20, 1e-20))
    same(folder, [{"x": (x * s).astype("f"), "a": np.array(a, "f"), "c": np.array(c, "f")} for a, c, s in scales])


def half_factors(folder):
    """90 in half precision, where 300 * 300 is infinite"""
    nodes = [NODE("Relu", ["x"], ["p"]), NODE("Relu", ["p"], ["q"]), NODE("Mul", ["q", "a"], ["r"]), NODE("Mul", ["r", "c"], ["y"])]
    save(folder / "toy.onnx", nodes, {"x": [64, 32], "a": [], "c": []}, "y", dtype=T.FLOAT16)
    optimised(folder)
    number = lambda v: np.array(v, "f2")  # noqa: E731
    same(folder, [{"x": np.full((64, 32), 1e-3, "f2"), "a": number(300), "c": number(300)}], 1e-2)
    made = onnx.load(folder / "out.onnx").graph.node
    assert [node.op_type for node in made].count("Relu") == 1 and all("x" not in node.input or node.op_type == "Relu" for node in made), made


def tiny_constants(folder):
    """x / (|x| + 1e-40) at 0: 1 / 1e-40 is infinite"""
    nodes = [NODE("Abs", ["x"], ["a"]), NODE("Add", ["a", "e"], ["s"]), NODE("Div", ["x", "s"], ["q"]), NODE("Relu", ["q"], ["r"]), NODE("Relu", ["r"], ["y"])]
    save(folder / "toy.onnx", nodes, {"x": ["N", 3]}, "y", [ARRAY(np.array([1e-3, 1e-40, 1], "f"), "e")])
    optimised(folder)
    same(folder, [{"x": np.full((2, 3), v, "f")} for v in (0, 1, 1e-39)])


def half_bounds(folder):
    """bounds that a Cast makes: the result is read as the original is"""
    for to, dtype in ((T.FLOAT16, "f2"), (T.DOUBLE, "f8")):
        nodes = [NODE("Cast", ["l"], ["low"], to=to), NODE("Cast", ["h"], ["high"], to=to), NODE("Sqrt", ["high"], ["top"]), NODE("Clip", ["x", "low", "top"], ["c"]),
                 NODE("Relu", ["c"], ["r"]), NODE("Relu", ["r"], ["y"]), NODE("Concat", ["c"], ["z"], axis=0)]  # fmt: skip
        save(folder / "toy.onnx", nodes, {"x": [4, 4]}, "yz", [ARRAY(np.array(-1.1318359375, "f"), "l"), ARRAY(np.array(2.40625, "f"), "h")], to)
        optimised(folder)
        same(folder, [{"x": np.linspace(-3, 3, 16).reshape(4, 4).astype(dtype)}])
        assert "Concat" not in [node.op_type for node in onnx.load(folder / "out.onnx").graph.node]


if __name__ == "__main__":
    main(run_time_factors, half_factors, tiny_constants, half_bounds)
