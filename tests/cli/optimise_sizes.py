"""rlgo optimise on models that synthetic sizes do not fit: likely ones are found and told, else the end is status 3; candidates that a check refuses are repaired."""
import sys

import numpy as np
import onnx
from _rlgo import SOURCE, assert_same_model, main, rlgo, run_onnx

NODE, ARRAY = onnx.helper.make_node, onnx.numpy_helper.from_array
QUICK = ["--cost.folder", "", "--cost", "analytic", "--check.repeats", "5", "--seconds", "10", "--method", "sweep", "--verbose"]
ORT = ["--target", "onnxruntime", "--target.python", sys.executable, *QUICK]


def save(path, nodes, inputs, outputs, weights=()):
    """`inputs`: {name: shape}, None: open without a name; `outputs`: names, or the same."""
    values = [onnx.helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()]
    results = [onnx.helper.make_tensor_value_info(name, 1, outputs[name] if isinstance(outputs, dict) else None) for name in outputs]
    graph = onnx.helper.make_graph(nodes, "toy", values, results, list(weights))
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)


def numbers(*values):
    return ARRAY(np.array(values, "int64"), "n" + "_".join(map(str, values)))


def weight(name, *shape):
    return ARRAY((np.random.default_rng(len(name)).standard_normal(shape) * 0.1).astype("float32"), name)


def runs_with(folder, *words):
    """status 0 or 3, and the line that says with which sizes"""
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--force", *ORT, cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    line = [text for text in done.stdout.splitlines() if text.startswith("sizes ")]
    assert len(line) == 1 and all(word in line[0] for word in words), done.stdout + done.stderr
    assert (folder / "out.onnx").exists(), done.stdout
    return done


def frame_of_sound(folder):
    """576 samples make 4 frames of 144; the state has the batch's size, under another name"""
    nodes = [NODE("Reshape", ["x", "n0_4_144"], ["f"]), NODE("ReduceMean", ["f"], ["m"], axes=[1], keepdims=0), NODE("MatMul", ["m", "w"], ["p"]), NODE("Add", ["p", "h"], ["y"])]
    save(folder / "toy.onnx", nodes, {"x": [None, None], "h": [None, 8]}, "y", [numbers(0, 4, 144), weight("w", 144, 8)])
    runs_with(folder, "--size x:1=576")


def batch_of_one(folder):
    """an open batch that must be 1: sizes of 2 or more do not run"""
    nodes = [NODE("Reshape", ["x", "n1_8_8"], ["r"]), NODE("Relu", ["r"], ["a"]), NODE("Relu", ["a"], ["y"])]
    save(folder / "toy.onnx", nodes, {"x": ["batch", 64]}, "y", [numbers(1, 8, 8)])
    done = runs_with(folder, "--dim batch=1")
    assert "onnxruntime" in done.stdout and "not measured" not in done.stdout, done.stdout


def two_heights(folder):
    """pictures of two sizes in one model: one of height 48, one of height 224"""
    nodes = [NODE("Reshape", ["a", "n0_3_48_-1"], ["p"]), NODE("Reshape", ["b", "n0_3_224_-1"], ["q"]), NODE("ReduceMean", ["p"], ["r"], axes=[2, 3]),
             NODE("ReduceMean", ["q"], ["s"], axes=[2, 3]), NODE("Add", ["r", "s"], ["t"]), NODE("Slice", ["a", "n47", "n48", "n2"], ["u"]), NODE("Slice", ["b", "n223", "n224", "n2"], ["v"]),
             NODE("Reshape", ["u", "n0_3_1_48"], ["k"]), NODE("Reshape", ["v", "n0_3_1_224"], ["l"]), NODE("ReduceMean", ["k"], ["m"], axes=[2, 3]),
             NODE("ReduceMean", ["l"], ["o"], axes=[2, 3]), NODE("Sum", ["t", "m", "o"], ["y"])]
    weights = [numbers(*v) for v in ((0, 3, 48, -1), (0, 3, 224, -1), (47,), (48,), (223,), (224,), (2,), (0, 3, 1, 48), (0, 3, 1, 224))]
    save(folder / "toy.onnx", nodes, {"a": ["n", 3, "h", "h"], "b": ["n", 3, "g", "g"]}, "y", weights)
    runs_with(folder, "--size h=48", "--size g=224")


def features_of_the_first_weight(folder):
    """the number of features is open too, and stands in the weights alone"""
    save(folder / "toy.onnx", [NODE("MatMul", ["x", "w"], ["p"]), NODE("Relu", ["p"], ["y"])], {"x": ["n", "t", "f"]}, "y", [weight("w", 83, 8)])
    runs_with(folder, "f=83")


def no_size_runs(folder):
    """status 3, one line with the reason and the options to fill in, nothing written, even with --force"""
    save(folder / "toy.onnx", [NODE("Reshape", ["x", "n7_13"], ["r"]), NODE("Relu", ["r"], ["y"])], {"x": ["n", "m", 17]}, "y", [numbers(7, 13)])
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--force", "--report", "page.html", *ORT, cwd=folder, status=3)
    assert "cannot run the model" in done.stdout and "give others, as --size m=" in done.stdout, done.stdout + done.stderr
    assert not (folder / "out.onnx").exists() and (folder / "page.html").exists()


def given_sizes_stay(folder):
    """--size that the user gives is not overruled; the other dimension is looked for"""
    save(folder / "toy.onnx", [NODE("Reshape", ["x", "n0_576"], ["r"]), NODE("Relu", ["r"], ["y"])], {"x": ["n", "a", "b"]}, "y", [numbers(0, 576)])
    done = rlgo("optimise", "toy.onnx", "--size", "a=9", "--size", "b=64", "--size", "n=4", *ORT, cwd=folder, status=3)
    for given in ("a=9", "x:1=9"):
        runs = rlgo("optimise", "toy.onnx", "--size", given, *ORT, cwd=folder, status=3)
        assert "--size a=9 --size b=64" in runs.stdout, runs.stdout
    assert "made-up" not in done.stdout, done.stdout


def pyramid_at_odd_sizes(folder):
    """enlarged by two and added to what was halved: odd sizes are not the model's, and no fault of a rewrite"""
    nodes = [NODE("Conv", ["x", "w1"], ["a"], pads=[1] * 4), NODE("Conv", ["a", "w2"], ["b"], pads=[1] * 4, strides=[2, 2]), NODE("Conv", ["b", "w3"], ["c"], pads=[1] * 4),
             NODE("Conv", ["b", "w4"], ["d"], pads=[1] * 4), NODE("Add", ["c", "d"], ["e"]), NODE("Resize", ["e", "", "s"], ["f"], mode="nearest"), NODE("Add", ["a", "f"], ["y"])]
    weights = [weight("w1", 4, 3, 3, 3), weight("w22", 4, 4, 3, 3), weight("w333", 4, 4, 3, 3), weight("w4444", 4, 4, 3, 3), ARRAY(np.array([1, 1, 2, 2], "float32"), "s")]
    for node, new in ((nodes[1], "w22"), (nodes[2], "w333"), (nodes[3], "w4444")):
        node.input[1] = new
    save(folder / "toy.onnx", nodes, {"x": ["n", 3, "h", "w"]}, "y", weights)
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--force", *ORT, cwd=folder, status=None)
    assert done.returncode in (0, 3) and "is dropped" not in done.stderr, done.stdout + done.stderr
    assert "1 x sum-of-convs-shared-input" in done.stdout, done.stdout
    for height, width in ((2, 2), (34, 50), (10, 6)):
        feeds = {"x": np.random.default_rng(height).standard_normal((3, 3, height, width)).astype("float32")}
        np.testing.assert_allclose(run_onnx(folder / "out.onnx", feeds)[0], run_onnx(folder / "toy.onnx", feeds)[0], rtol=1e-3, atol=1e-5)


def repaired(folder):
    """the runtime answers other outputs wherever two Relus became a LeakyRelu: the other rewrites are kept"""
    weights = [weight("w1", 8, 8, 3, 3), weight("w22", 8, 8, 3, 3), ARRAY(np.array(0.5, "float32"), "half")]
    nodes = [NODE("Conv", ["x", "w1"], ["a"], pads=[1] * 4), NODE("Conv", ["x", "w22"], ["b"], pads=[1] * 4), NODE("Add", ["a", "b"], ["c"]),
             NODE("Mul", ["c", "half"], ["d"]), NODE("Relu", ["d"], ["e"]), NODE("Relu", ["e"], ["y"])]
    save(folder / "toy.onnx", nodes, {"x": [1, 8, 16, 16]}, {"y": [1, 8, 16, 16]}, weights)
    (folder / "two.rules").write_text("rule twice\n  ?y = (relu (relu ?x))\n  => ?y = (leaky_relu ?x alpha=0.0)\n")
    target = " ".join(f"'{w}'" for w in (sys.executable, f"{SOURCE}/tests/core/measure/_fake_measurer.py", "outputs", "differs=LeakyRelu"))
    done = rlgo("optimise", "toy.onnx", "-o", "out.onnx", "--force", "--rules", "two.rules", "--rules", "sum-of-convs-shared-input", "--target", target, *QUICK, cwd=folder, status=None)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    assert "is dropped: fake 1.0" in done.stderr and "without twice" in done.stdout, done.stdout + done.stderr
    kinds = [n.op_type for n in onnx.load(folder / "out.onnx").graph.node]
    assert kinds.count("Conv") == 1 and "LeakyRelu" not in kinds, kinds
    assert_same_model(folder / "toy.onnx", folder / "out.onnx")


if __name__ == "__main__":
    main(frame_of_sound, batch_of_one, two_heights, features_of_the_first_weight, no_size_runs, given_sizes_stay, pyramid_at_odd_sizes, repaired)
